//! Allocation of memory that will be written soon.

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes of a huge page, and the smallest allocation that asks for some.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// The system's allocator, which asks for huge pages where an allocation has room for some.
///
/// Without them, the kernel spends as much time clearing and mapping small pages as the protocols that write to them once. A program has it with
/// `#[global_allocator] static ALLOCATOR: HugePages = HugePages;`.
pub struct HugePages;

// SAFETY: all memory is the system's; its contents and bounds are unchanged.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system's.
        let start = unsafe { System.alloc(layout) };
        ask_for_huge_pages(start, layout.size());
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the system's, which made all allocations.
        unsafe { System.dealloc(start, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system's.
        let start = unsafe { System.alloc_zeroed(layout) };
        ask_for_huge_pages(start, layout.size());
        start
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the system's, which made all allocations.
        let start = unsafe { System.realloc(start, layout, size) };
        ask_for_huge_pages(start, size);
        start
    }
}

/// Asks for huge pages where whole ones fit into an allocation. A kernel without them ignores this.
#[cfg(target_os = "linux")]
#[inline]
fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    if bytes < HUGE_PAGE || start.is_null() {
        return;
    }
    let first = start.addr().next_multiple_of(HUGE_PAGE);
    let end = (start.addr() + bytes) / HUGE_PAGE * HUGE_PAGE;
    if first < end {
        let pages = start.with_addr(first).cast();
        // SAFETY: the pages lie within the allocation, and this advice changes neither their contents nor access to them.
        let _ = unsafe { rustix::mm::madvise(pages, end - first, rustix::mm::Advice::LinuxHugepage) };
    }
}

/// Does nothing: there is no such advice.
#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_start: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: HugePages = HugePages;

    #[test]
    fn vectors_of_any_size_can_be_written_and_grow() {
        for count in [0, 1, 1000, 131_072, 262_144, 1_000_003] {
            let mut room: Vec<u64> = Vec::with_capacity(count);
            room.extend(0..count as u64);
            room.push(count as u64);
            assert!(room.iter().copied().eq(0..=count as u64));
            assert!(vec![0_u64; count].iter().all(|word| *word == 0));
        }
    }
}
