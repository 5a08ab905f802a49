//! Tests `chancery lsp` and `chancery mcp` as their clients use them: real processes, real messages.

#[path = "editor/actions.rs"]
mod actions;
#[path = "editor/agents.rs"]
mod agents;
#[path = "editor/client.rs"]
mod client;
#[path = "editor/dialects.rs"]
mod dialects;
#[path = "editor/edits.rs"]
mod edits;
#[path = "editor/inputs.rs"]
mod inputs;
#[path = "editor/lifecycle.rs"]
mod lifecycle;
#[path = "editor/workspace.rs"]
mod workspace;
