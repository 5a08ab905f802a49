//! Converts the Markdown of code pages to elements: headings, paragraphs, lists, code. Never parses HTML.

use leptos::prelude::*;

pub fn shown(text: &str) -> AnyView {
    let mut out: Vec<AnyView> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            let code = code.join("\n");
            out.push(view! { <pre class="doc-code" tabindex="0"><code>{code}</code></pre> }.into_any());
        } else if line.starts_with("# ") {
            // The dialog's title shows it already.
        } else if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            let title = title.to_string();
            out.push(view! { <h2>{title}</h2> }.into_any());
        } else if line.starts_with("- ") || line.starts_with("* ") {
            let mut items = vec![line[2..].to_string()];
            while let Some(next) = lines.next_if(|next| next.starts_with("- ") || next.starts_with("* ") || next.starts_with("  ")) {
                match next.strip_prefix("  ").filter(|_| next.starts_with("  ")) {
                    Some(more) => {
                        if let Some(item) = items.last_mut() {
                            item.push(' ');
                            item.push_str(more.trim());
                        }
                    }
                    None => items.push(next[2..].to_string()),
                }
            }
            out.push(view! { <ul>{items.iter().map(|item| view! { <li>{words(item)}</li> }).collect_view()}</ul> }.into_any());
        } else if !line.trim().is_empty() {
            let mut paragraph = line.to_string();
            while let Some(next) = lines.next_if(|next| !next.trim().is_empty() && !next.starts_with(['#', '-', '`'])) {
                paragraph.push(' ');
                paragraph.push_str(next.trim());
            }
            out.push(view! { <p>{words(&paragraph)}</p> }.into_any());
        }
    }
    view! { <div class="doc">{out}</div> }.into_any()
}

/// Text whose words in backticks are code.
pub fn words(text: &str) -> AnyView {
    let part = |(at, part): (usize, &str)| {
        let part = part.to_string();
        if at % 2 == 1 { view! { <code>{part}</code> }.into_any() } else { view! { <span>{part}</span> }.into_any() }
    };
    text.split('`').enumerate().map(part).collect_view().into_any()
}
