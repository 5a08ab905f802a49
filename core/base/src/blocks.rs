//! A long list in shared blocks, for lists that an edit changes little. A copy shares all blocks; a change to one element copies only its
//! block.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// The number of elements per block; the last block may have fewer.
const SIZE: usize = 64;

#[derive(Clone, Debug)]
pub struct Blocks<T> {
    blocks: Vec<Arc<Vec<T>>>,
    len: usize,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<T> Blocks<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn get(&self, at: usize) -> Option<&T> {
        self.blocks.get(at / SIZE)?.get(at % SIZE)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.blocks.iter().flat_map(|block| block.iter())
    }
}

impl<T: Clone> Blocks<T> {
    /// An element for changing it. Its block is copied if it is shared.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        Arc::make_mut(self.blocks.get_mut(at / SIZE)?).get_mut(at % SIZE)
    }

    pub fn push(&mut self, element: T) {
        match self.blocks.last_mut().filter(|last| last.len() < SIZE) {
            Some(last) => Arc::make_mut(last).push(element),
            None => {
                let mut block = Vec::with_capacity(SIZE);
                block.push(element);
                self.blocks.push(Arc::new(block));
            }
        }
        self.len += 1;
    }
}

impl<T> Index<usize> for Blocks<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.blocks[at / SIZE][at % SIZE]
    }
}

impl<T: Clone> IndexMut<usize> for Blocks<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut Arc::make_mut(&mut self.blocks[at / SIZE])[at % SIZE]
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Blocks, Vec};

    #[test]
    fn copies_share_unchanged_blocks() {
        let mut list = Blocks::default();
        (0..1000).for_each(|number| list.push(number));
        let mut copy = list.clone();
        copy.get_mut(500).into_iter().for_each(|number| *number = 0);
        copy.push(1000);
        assert_eq!((list.len(), list.get(500), list.get(1000)), (1000, Some(&500), None));
        assert_eq!((copy.len(), copy.get(500), copy.get(1000)), (1001, Some(&0), Some(&1000)));
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
        let shared = list.blocks.iter().zip(&copy.blocks).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
        assert_eq!(shared, list.blocks.len() - 2);
        assert!(!list.is_empty() && Blocks::<u8>::default().is_empty());
    }
}
