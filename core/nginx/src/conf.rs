//! Prints the server blocks of nginx.conf as text, each line with its source as a comment.
//!
//! Does not choose the directives; see `template`.

use crate::directive::{Directive, quoted};
use crate::template;
use alloc::string::String;
use chancery_base::ir::nginx::Nginx;
use chancery_base::positions::Positions;
use chancery_base::resource::{ObjectId, Origin};
use core::fmt::Write as _;

/// Returns the server blocks as text.
pub fn text(nginx: &Nginx, positions: &Positions<'_>) -> String {
    let mut writer = Writer { out: String::new(), positions };
    for directive in template::http(nginx) {
        writer.directive(&directive, 0);
    }
    for redirect in &nginx.redirects {
        writer.directive(&template::redirect_server(nginx, redirect), 0);
    }
    for server in &nginx.servers {
        writer.directive(&template::server(nginx, server), 0);
    }
    writer.out
}

struct Writer<'a> {
    out: String,
    positions: &'a Positions<'a>,
}

impl Writer<'_> {
    fn directive(&mut self, directive: &Directive, depth: usize) {
        let start = self.out.len();
        self.indent(depth);
        self.out.push_str(&directive.name);
        for arg in &directive.args {
            self.out.push(' ');
            self.out.push_str(&quoted(arg));
        }
        match &directive.block {
            None => {
                self.out.push(';');
                self.source(directive.origin, start);
            }
            Some(inner) => {
                self.out.push_str(" {");
                self.source(directive.origin, start);
                inner.iter().for_each(|inner| self.directive(inner, depth + 1));
                self.indent(depth);
                self.out.push_str("}\n");
            }
        }
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("    ");
        }
    }

    /// Notes the source of the line that begins at `start`.
    fn source(&mut self, origin: Option<Origin>, start: usize) {
        let span = origin.filter(|origin| origin.object() != ObjectId::BUILT_IN).and_then(|origin| self.positions.origin(origin));
        if let Some(span) = span {
            const COLUMN: usize = 70;
            let width = self.out.get(start..).map_or(0, |line| line.chars().count());
            let _ = write!(self.out, "{:1$} # {2}:{3}", "", COLUMN.saturating_sub(width), span.file, span.line);
        }
        self.out.push('\n');
    }
}
