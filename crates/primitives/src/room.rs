//! Allocation of memory that will be written soon.

/// Bytes of a huge page, and the smallest allocation that asks for some.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// An empty vector with capacity for `count` values.
///
/// Large allocations ask for huge pages. Otherwise, for a vector that is written once, the kernel spends as much time clearing and
/// mapping small pages as the OTs that fill it.
pub fn with_room<T>(count: usize) -> Vec<T> {
    let mut room = Vec::with_capacity(count);
    ask_for_huge_pages(room.spare_capacity_mut());
    room
}

/// Asks for huge pages where whole ones fit. A kernel without them ignores this.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages<T>(room: &mut [std::mem::MaybeUninit<T>]) {
    let range = room.as_mut_ptr_range();
    let start = range.start.addr().next_multiple_of(HUGE_PAGE);
    let end = range.end.addr() / HUGE_PAGE * HUGE_PAGE;
    if start < end {
        let pages = range.start.with_addr(start).cast();
        // SAFETY: the pages lie within the allocation, and this advice changes neither their contents nor access to them.
        let _ = unsafe { rustix::mm::madvise(pages, end - start, rustix::mm::Advice::LinuxHugepage) };
    }
}

/// Does nothing: there is no such advice.
#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages<T>(_room: &mut [std::mem::MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_of_any_size_can_be_written() {
        for count in [0, 1, 1000, 131_072, 1_000_003] {
            let mut room: Vec<u64> = with_room(count);
            assert!(room.is_empty() && room.capacity() >= count);
            room.extend(0..count as u64);
            assert!(room.iter().copied().eq(0..count as u64));
        }
    }
}
