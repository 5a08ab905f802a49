//! The window: what is opened, menu, dialogs, and the two commands that a page has. It links the system's web view.
//!
//! What must not be here: what the page asks to be done; that is `chancery_desktop`'s.

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
        Ok(arguments::Command::Open(wanted)) => {
            arguments::with_path_of_login_shell();
            window::run(wanted)
        }
        Err(why) => {
            eprintln!("chancery-desktop: {why}\n\n{}", arguments::USAGE);
            ExitCode::from(2)
        }
    }
}
