// Frees byte arrays that were read. Used by the page and the worker.

// Frees the memory at once. Without this, the browser frees it at the next garbage collection.
export const release = (bytes) => void bytes.buffer.transfer?.(0);
