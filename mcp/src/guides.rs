//! Lists the guides of the documentation as resources. Does not list the pages of codes; the tool `code` returns them.

/// A guide.
pub struct Guide {
    pub name: &'static str,
    pub text: &'static str,
}

impl Guide {
    /// Its address as a resource.
    pub fn uri(&self) -> String {
        format!("chancery://guides/{}", self.name)
    }

    /// Its first heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(self.name)
    }
}

macro_rules! guides {
    ($($name:literal),* $(,)?) => {
        /// All guides.
        pub const ALL: &[Guide] = &[$(Guide { name: $name, text: include_str!(concat!(env!("CHANCERY_GUIDES"), "/", $name, ".md")) }),*];
    };
}

guides!(
    "404",
    "agents",
    "ambassador-to-contour",
    "azure",
    "canary",
    "cluster",
    "consul",
    "contour",
    "coverage",
    "editor",
    "embed",
    "envoy-gateway",
    "leave-ingress-nginx",
    "migrate-v2",
    "replay",
    "tls",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_contains_every_guide() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .expect("the guides")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".md").map(String::from))
            .collect();
        found.sort();
        assert_eq!(ALL.iter().map(|guide| guide.name).collect::<Vec<_>>(), found);
        assert!(ALL.iter().all(|guide| guide.title() != guide.name), "every guide has a heading");
    }
}
