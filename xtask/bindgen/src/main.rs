//! Writes the JavaScript of a WebAssembly program: `xtask-bindgen PROGRAM.wasm NAME FOLDER`. The build of the page runs it.

use std::env;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [program, name, folder] = &args[..] else {
        eprintln!("usage: xtask-bindgen PROGRAM.wasm NAME FOLDER");
        return ExitCode::FAILURE;
    };
    let mut bindgen = Bindgen::new();
    // The worker's script loads the program by the default path.
    bindgen.input_path(program).out_name(name).typescript(false).omit_default_module_path(false);
    let written = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask-bindgen: {program}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
