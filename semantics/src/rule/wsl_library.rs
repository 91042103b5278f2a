//! Rules of WSL's standard library: seed 004 "Standard library".

macro_rules! wsl_library_rules {
    ($then:ident $($rows:tt)*) => {
        $then! { $($rows)*
            // Built-in types.
            WslLibScalar "wsl/lib-scalar" Library "004 Built-in Scalars" "wsl::library::types::scalar" "void, bool, uint, int and float are types";
        }
    };
}
