//! Marks the addresses of endpoints that Chancery assumes. Does not assume objects; see `chancery_compile` and the references of dialects.

use alloc::borrow::ToOwned;
use alloc::string::String;
use chancery_base::compilation::Compilation;

/// The start of all assumed addresses, which belong to a reserved network.
const NETWORK: &str = "240.";

/// The mark behind an assumed address.
const MARK: &str = " (assumed)";

/// Marks each assumed address in a text: an address of the reserved network that no input contains.
#[must_use]
pub fn mark_assumed(compilation: &Compilation, text: &str) -> String {
    if !text.contains(NETWORK) {
        return text.to_owned();
    }
    let is_written = |address: &str| compilation.inputs.inputs.iter().any(|input| input.text.contains(address));
    let mut out = String::with_capacity(text.len() + MARK.len());
    let mut rest = text;
    while let Some(at) = rest.find(NETWORK) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let digits = from.get(NETWORK.len()..).map_or(0, |tail| tail.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count());
        // A full stop behind the address ends the sentence.
        let digits = from.get(..NETWORK.len() + digits).map_or(0, |found| found.trim_end_matches('.').len()).saturating_sub(NETWORK.len());
        let end = NETWORK.len() + digits;
        let is_whole =
            !before.ends_with(|c: char| c.is_ascii_digit() || c == '.') && from.get(..end).is_some_and(|found| found.matches('.').count() == 3);
        let address = from.get(..end).unwrap_or_default();
        let tail = from.get(end..).unwrap_or_default();
        let port = tail.strip_prefix(':').map_or(0, |port| 1 + port.bytes().take_while(u8::is_ascii_digit).count());
        out.push_str(address);
        out.push_str(tail.get(..port).unwrap_or_default());
        rest = tail.get(port..).unwrap_or_default();
        if is_whole && !is_written(address) && !rest.starts_with(MARK) {
            out.push_str(MARK);
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::mark_assumed;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;

    #[test]
    fn only_unwritten_addresses_are_marked() {
        let compilation = Compiler::new(crate::testing::ALL).compile(&Inputs::one("a.yaml", "address: 240.0.2.7\n"), &Options::default());
        let marked = mark_assumed(&compilation, "to 240.0.2.79:8080, 240.0.2.7:80, 1240.0.2.9, 240.5 and 240.0.2.8.");
        assert_eq!(marked, "to 240.0.2.79:8080 (assumed), 240.0.2.7:80, 1240.0.2.9, 240.5 and 240.0.2.8 (assumed).");
        assert_eq!(mark_assumed(&compilation, &marked), marked);
    }
}
