//! Completions and man pages, generated from the arguments.

use crate::Outcome;
use crate::args::{Cli, ManArgs};
use crate::output::{print, reason};
use clap::CommandFactory;

/// Completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "chancery", &mut out);
    print(&String::from_utf8_lossy(&out))?;
    Ok(0)
}

/// Man pages.
pub fn man(args: &ManArgs) -> Outcome {
    let command = Cli::command();
    let Some(folder) = &args.out_dir else {
        let mut out = Vec::new();
        clap_mangen::Man::new(command).render(&mut out).map_err(|error| format!("cannot write the man page: {}", reason(&error)))?;
        print(&String::from_utf8_lossy(&out))?;
        return Ok(0);
    };
    let cannot = |error: std::io::Error| format!("cannot write man pages to {}: {}", folder.display(), reason(&error));
    std::fs::create_dir_all(folder).map_err(cannot)?;
    clap_mangen::generate_to(command, folder).map_err(cannot)?;
    Ok(0)
}
