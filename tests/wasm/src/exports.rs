//! Exports the functions that a host of the WebAssembly module calls: memory for a question, and the answer to it.
//!
//! Only passes bytes; see `answer` for the work.
#![expect(unsafe_code, reason = "bytes cross the border of the module by address")]

use crate::{What, answer};

/// Allocates memory for a question of this length.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::leak(vec![0_u8; length].into_boxed_slice()).as_mut_ptr()
}

/// Frees memory.
///
/// # Safety
/// `address` is from [`allocate`] or [`compile`], and has this length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(address: *mut u8, length: usize) {
    // SAFETY: the caller guarantees it.
    drop(unsafe { Box::from_raw(core::ptr::slice_from_raw_parts_mut(address, length)) });
}

/// Returns the answer to the question at `address`: its length in four bytes, then its bytes.
///
/// # Safety
/// `address` is from [`allocate`] and has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn compile(address: *const u8, length: usize, all: u32) -> *mut u8 {
    // SAFETY: the caller guarantees it.
    let question = String::from_utf8_lossy(unsafe { core::slice::from_raw_parts(address, length) });
    let text = answer(&question, if all == 0 { What::Envoy } else { What::All });
    let mut bytes = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    Box::leak(bytes.into_boxed_slice()).as_mut_ptr()
}
