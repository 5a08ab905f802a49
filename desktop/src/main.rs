//! The desktop program: windows, menu, dialogs, and the two commands of the page. Links the system's web view. Does not carry out calls; see
//! `chancery_desktop`.

mod menu;
mod window;

use chancery_desktop::arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    match arguments::read(std::env::args_os().skip(1)) {
        Ok(arguments::Command::Help) => {
            print!("{}", arguments::USAGE);
            ExitCode::SUCCESS
        }
        Ok(arguments::Command::Version) => {
            println!("chancery-desktop {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Ok(arguments::Command::Open(request)) => {
            arguments::with_path_of_login_shell();
            window::run(request)
        }
        Err(why) => {
            eprintln!("chancery-desktop: {why}\n\n{}", arguments::USAGE);
            ExitCode::from(2)
        }
    }
}
