//! What the operations do, on a small schema of every shape.
