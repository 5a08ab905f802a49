//! What is admitted, and what the reference says of what is not.
