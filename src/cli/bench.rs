use std::process::ExitCode;
/// x
#[derive(clap::Args)]
pub(crate) struct Bench {}
impl Bench {
    pub(crate) fn run(self) -> ExitCode {
        ExitCode::SUCCESS
    }
}
