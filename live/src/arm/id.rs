//! Parses the id of an Application Gateway in Azure, or the names that the id consists of.

use std::fmt;
use std::str::FromStr;

/// The id of a gateway in Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayId {
    pub subscription: String,
    pub group: String,
    pub name: String,
}

impl fmt::Display for GatewayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subscription, group, name } = self;
        write!(f, "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/applicationGateways/{name}")
    }
}

impl FromStr for GatewayId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps: Vec<&str> = text.trim().trim_start_matches('/').split('/').collect();
        let word = |at: usize, word: &str| steps.get(at).is_some_and(|step| step.eq_ignore_ascii_case(word));
        let is_id = word(0, "subscriptions")
            && word(2, "resourceGroups")
            && word(4, "providers")
            && word(5, "Microsoft.Network")
            && word(6, "applicationGateways");
        let [subscription, group, name] = match steps[..] {
            [subscription, group, name] => [subscription, group, name],
            [_, subscription, _, group, _, _, _, name] if is_id => [subscription, group, name],
            _ => return Err(wrong(text)),
        };
        // A path contains the names verbatim.
        let fits = |step: &str| {
            !step.is_empty()
                && step.len() <= 100
                && step.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '(' | ')'))
                && step != ".."
        };
        if ![subscription, group, name].into_iter().all(fits) {
            return Err(wrong(text));
        }
        Ok(Self { subscription: subscription.into(), group: group.into(), name: name.into() })
    }
}

fn wrong(text: &str) -> String {
    format!(
        "`{text}` is no id of an Application Gateway: write SUBSCRIPTION/GROUP/NAME, or \
         /subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.Network/applicationGateways/NAME"
    )
}

#[cfg(test)]
mod tests {
    use super::GatewayId;

    #[test]
    fn id_parses_full_path_or_names() {
        let full = "/subscriptions/1-2/resourcegroups/my-rg/providers/Microsoft.Network/applicationGateways/gw";
        let read: GatewayId = full.parse().expect("an id");
        assert_eq!(read, "1-2/my-rg/gw".parse().expect("names"));
        assert_eq!(read.to_string().to_lowercase(), full.to_lowercase());
        for wrong in ["", "gw", "a//b", "a/../b", "a/b?x/c", "/subscriptions/1/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v"] {
            assert!(wrong.parse::<GatewayId>().is_err(), "{wrong}");
        }
    }
}
