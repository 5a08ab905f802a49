//! Checks whether RE2, Envoy's engine, accepts a regular expression. Does not match ([`engine`]), find matching strings ([`language`]), or bound
//! the program's size ([`size`]).

pub mod engine;
mod error;
pub mod language;
pub mod size;

pub use error::RegexError;

/// Checks whether RE2 accepts an expression.
///
/// # Errors
///
/// Why RE2 rejects it, as the end of a sentence after a colon.
pub fn check(regex: &str) -> Result<(), RegexError> {
    Parser { rest: regex }.alternation()
}

struct Parser<'r> {
    rest: &'r str,
}

impl Parser<'_> {
    fn alternation(&mut self) -> Result<(), RegexError> {
        let mut repeatable = false;
        let mut open = 0u32;
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '\\' => {
                    self.escape()?;
                    repeatable = true;
                }
                '(' => {
                    self.group()?;
                    open += 1;
                    if open > 1000 {
                        return Err(RegexError::TooDeep);
                    }
                    repeatable = false;
                }
                ')' => {
                    open = open.checked_sub(1).ok_or(RegexError::UnopenedGroup)?;
                    repeatable = true;
                }
                '[' => {
                    self.class()?;
                    repeatable = true;
                }
                '*' | '+' | '?' => {
                    if !repeatable {
                        return Err(RegexError::NothingToRepeat(Some(c)));
                    }
                    if let Some(rest) = self.rest.strip_prefix('?') {
                        self.rest = rest;
                    }
                    if self.rest.starts_with(['*', '+', '?']) {
                        return Err(RegexError::RepeatedRepetition);
                    }
                }
                '{' => {
                    if let Some(length) = self.repetition()? {
                        if !repeatable {
                            return Err(RegexError::NothingToRepeat(None));
                        }
                        self.rest = &self.rest[length..];
                        if let Some(rest) = self.rest.strip_prefix('?') {
                            self.rest = rest;
                        }
                        if self.rest.starts_with(['*', '+', '?']) {
                            return Err(RegexError::RepeatedRepetition);
                        }
                    }
                    repeatable = true;
                }
                '|' => repeatable = false,
                '^' => repeatable = true,
                _ => repeatable = true,
            }
        }
        if open > 0 { Err(RegexError::UnclosedGroup) } else { Ok(()) }
    }

    fn escape(&mut self) -> Result<(), RegexError> {
        let Some(c) = self.rest.chars().next() else { return Err(RegexError::TrailingBackslash) };
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            // Two octal digits are a character.
            '1'..='7' if self.rest.starts_with(|c| matches!(c, '0'..='7')) => Ok(()),
            '1'..='9' => Err(RegexError::Backreference),
            'p' | 'P' => {
                if let Some(rest) = self.rest.strip_prefix('{') {
                    let end = rest.find('}').ok_or(RegexError::UnclosedEscape('p'))?;
                    self.rest = &rest[end + 1..];
                }
                Ok(())
            }
            'Q' => {
                let end = self.rest.find("\\E");
                self.rest = end.map_or("", |end| &self.rest[end + 2..]);
                Ok(())
            }
            'x' => {
                if let Some(rest) = self.rest.strip_prefix('{') {
                    let end = rest.find('}').ok_or(RegexError::UnclosedEscape('x'))?;
                    self.rest = &rest[end + 1..];
                    return Ok(());
                }
                let hex = self.rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count();
                if hex != 2 {
                    return Err(RegexError::BadHexadecimal);
                }
                self.rest = &self.rest[2..];
                Ok(())
            }
            'A' | 'B' | 'C' | 'D' | 'S' | 'W' | 'a' | 'b' | 'd' | 'f' | 'n' | 'r' | 's' | 't' | 'v' | 'w' | 'z' | '0' | '_' => Ok(()),
            c if c.is_ascii_alphabetic() => Err(RegexError::UnknownEscape(c)),
            _ => Ok(()),
        }
    }

    fn group(&mut self) -> Result<(), RegexError> {
        let Some(rest) = self.rest.strip_prefix('?') else { return Ok(()) };
        if rest.starts_with('=') || rest.starts_with('!') || rest.starts_with("<=") || rest.starts_with("<!") {
            return Err(RegexError::LookAround);
        }
        if let Some(named) = rest.strip_prefix("P<").or_else(|| rest.strip_prefix('<')) {
            let end = named.find('>').ok_or(RegexError::UnclosedName)?;
            if end == 0 || !named[..end].chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Err(RegexError::BadName);
            }
            self.rest = &named[end + 1..];
            return Ok(());
        }
        let end = rest.find(|c: char| !matches!(c, 'i' | 'm' | 's' | 'U' | '-')).unwrap_or(rest.len());
        match rest[end..].chars().next() {
            Some(':') => self.rest = &rest[end + 1..],
            Some(')') => self.rest = &rest[end..],
            _ => return Err(RegexError::UnknownGroup),
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), RegexError> {
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.rest = rest;
        }
        let mut first = true;
        let mut low: Option<char> = None;
        loop {
            let Some(c) = self.rest.chars().next() else { return Err(RegexError::UnclosedClass) };
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                ']' if !first => return Ok(()),
                '[' if self.rest.starts_with(':') => {
                    if let Some(end) = self.rest.find(":]") {
                        self.rest = &self.rest[end + 2..];
                    }
                    low = None;
                }
                '\\' => {
                    self.escape()?;
                    low = None;
                }
                '-' if !first && !self.rest.starts_with(']') => {
                    if let (Some(low), Some(high)) = (low.take(), self.rest.chars().next()) {
                        if high != '\\' && high < low {
                            return Err(RegexError::BackwardsRange(low, high));
                        }
                        if high != '\\' {
                            self.rest = &self.rest[high.len_utf8()..];
                        }
                    }
                }
                c => low = Some(c),
            }
            first = false;
        }
    }

    /// The length of a repetition after its `{`, if it is one.
    fn repetition(&self) -> Result<Option<usize>, RegexError> {
        let Some(end) = self.rest.find('}') else { return Ok(None) };
        let inner = &self.rest[..end];
        let (low, high) = inner.split_once(',').map_or((inner, None), |(low, high)| (low, Some(high)));
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !number(low) || high.is_some_and(|high| !high.is_empty() && !number(high)) {
            return Ok(None);
        }
        let large = |text: &str| text.parse::<u32>().map_or(true, |n| n > 1000);
        if large(low) || high.is_some_and(|high| !high.is_empty() && large(high)) {
            return Err(RegexError::TooManyRepetitions);
        }
        if let (Ok(low), Some(Ok(high))) = (low.parse::<u32>(), high.map(str::parse::<u32>))
            && high < low
        {
            return Err(RegexError::BackwardsRepetition(inner.into()));
        }
        Ok(Some(end + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn accepts_re2_expressions() {
        for regex in
            ["", "/a/.*", "[a-z]+(v[0-9])?", "(?i)x|y", "a{2,3}", "a{,3}", r"\d+\.\w", "[^]a]", "[[:alpha:]]", r"\pN", "(?P<n>x)", "^$", "a{x}"]
        {
            assert_eq!(check(regex), Ok(()), "{regex}");
        }
    }

    #[test]
    fn rejects_invalid_expressions() {
        for regex in ["(?=a)", "(?<!a)b", r"(a)\1", "a)", "(a", "[a", "*a", "a**", "a{1001}", "a{3,2}", r"\", "(?>a)", r"\y", "[z-a]"] {
            assert!(check(regex).is_err(), "{regex}");
        }
    }
}
