//! Hashes field names at compile time.

pub(super) const fn of(name: &[u8]) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    let (first, middle, last) = (name[0] as usize, name[length / 2] as usize, name[length - 1] as usize);
    let quarter = name[length / 4] as usize;
    let mixed = length.wrapping_mul(0x9E37_79B1) ^ first.wrapping_mul(0x85EB_CA6B) ^ middle.wrapping_mul(0xC2B2_AE35);
    let mixed = mixed ^ last.wrapping_mul(0x27D4_EB2F) ^ quarter.wrapping_mul(0x1656_67B1);
    (mixed ^ (mixed >> 15)) as u32 as usize
}
