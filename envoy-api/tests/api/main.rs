//! What a user of the crate relies on, by what it is about. One program, since linking all messages takes a while.

mod any;
mod json_read;
mod json_write;
mod rules;
