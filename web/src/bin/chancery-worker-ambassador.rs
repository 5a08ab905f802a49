//! The worker that has one dialect.
//!
//! What must not be here: what a worker does.

chancery_web::worker!(ambassador);
