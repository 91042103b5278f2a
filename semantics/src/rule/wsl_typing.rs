//! Rules of WSL's validation: seed 004 "Validation", "Entry Points".

macro_rules! wsl_typing_rules {
    ($then:ident $last:ident $($rows:tt)*) => {
        $then! { $last $($rows)*
            // Building the global typing environment.
            WslEnvTypedefDuplicate "wsl/env-typedef-duplicate" Environment "004 Building the global typing environment 2.1" "wsl::environment::declare::typedef" "no other type has the name of a typedef";
        }
    };
}
