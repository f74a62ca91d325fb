//! Code that each crate of the copy has in addition.

/// A module of the crate, at the end of its `lib.rs`.
///
/// The variable `GARBLET_LOST` names the place that is lost. To the file that `GARBLET_REACHED` names, a program adds the places that it reaches, with `!` those whose loss changes a value,
/// and with `~` comparisons of something else than bytes.
pub(super) const MODULE: &str = r#"
#[allow(dead_code, missing_docs, unused_imports, unused_macros, unreachable_pub)]
pub(crate) mod garblet_switch {
    use std::{fs::OpenOptions, io::Write, sync::{LazyLock, atomic::{AtomicBool, Ordering}}};
    static LOST: LazyLock<u64> = LazyLock::new(|| {
        std::env::var("GARBLET_LOST").ok().and_then(|name| u64::from_str_radix(&name, 16).ok()).unwrap_or(0)
    });
    pub struct Site { pub name: u64, pub is_seen: AtomicBool, pub has_fired: AtomicBool }
    macro_rules! site {
        ($name:literal) => {{
            static SITE: crate::garblet_switch::Site = crate::garblet_switch::Site {
                name: $name,
                is_seen: std::sync::atomic::AtomicBool::new(false),
                has_fired: std::sync::atomic::AtomicBool::new(false),
            };
            &SITE
        }};
    }
    pub(crate) use site;
    #[cold]
    fn tell(once: &AtomicBool, mark: &str, name: u64) {
        if once.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(path) = std::env::var_os("GARBLET_REACHED") else { return };
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
            let _ = file.write_all(format!("{mark}{name:016x}\n").as_bytes());
        }
    }
    /// Returns whether this place does what it should.
    #[inline]
    pub fn kept(site: &Site) -> bool {
        if !site.is_seen.load(Ordering::Relaxed) {
            tell(&site.is_seen, "", site.name);
        }
        *LOST != site.name
    }
    fn fire(site: &Site) {
        if !site.has_fired.load(Ordering::Relaxed) {
            tell(&site.has_fired, "!", site.name);
        }
    }
    /// The outcome of a check.
    pub trait Outcome {
        fn holds(&self) -> bool;
        fn of(holds: bool) -> Self;
    }
    impl Outcome for bool {
        fn holds(&self) -> bool { *self }
        fn of(holds: bool) -> Self { holds }
    }
    CHOICE
    /// The outcome, or where the place is lost this one.
    pub fn or<T: Outcome>(site: &Site, lost: bool, outcome: T) -> T {
        let is_kept = kept(site);
        if outcome.holds() != lost {
            fire(site);
        }
        if is_kept { outcome } else { T::of(lost) }
    }
    /// The result of a check, or success.
    pub fn checked<T, E>(site: &Site, result: Result<T, E>) -> Option<Result<T, E>> {
        let is_kept = kept(site);
        if result.is_err() {
            fire(site);
        }
        if is_kept { Some(result) } else { None }
    }
    /// The outcome of a comparison, or where the place is lost that of its first half.
    pub fn halved<T: Outcome>(site: &Site, is_negated: bool, whole: T, half: impl FnOnce() -> Option<bool>) -> T {
        let is_kept = kept(site);
        let Some(half) = half().map(|half| half != is_negated) else {
            tell(&site.has_fired, "~", site.name);
            return whole;
        };
        if whole.holds() != half {
            fire(site);
        }
        if is_kept { whole } else { T::of(half) }
    }
    pub struct Pair<'a, A: ?Sized, B: ?Sized>(pub &'a A, pub &'a B);
    pub trait Bytes {
        fn bytes(&self) -> &[u8];
    }
    impl Bytes for [u8] {
        fn bytes(&self) -> &[u8] { self }
    }
    impl<const N: usize> Bytes for [u8; N] {
        fn bytes(&self) -> &[u8] { self }
    }
    impl Bytes for Vec<u8> {
        fn bytes(&self) -> &[u8] { self }
    }
    impl<T: Bytes + ?Sized> Bytes for &T {
        fn bytes(&self) -> &[u8] { (**self).bytes() }
    }
    pub trait Halved {
        fn same_half(&self) -> Option<bool>;
    }
    impl<A: Bytes + ?Sized, B: Bytes + ?Sized> Halved for Pair<'_, A, B> {
        fn same_half(&self) -> Option<bool> {
            let (a, b) = (self.0.bytes(), self.1.bytes());
            Some(a.len() == b.len() && a[..a.len() / 2] == b[..b.len() / 2])
        }
    }
    pub trait Whole {
        fn same_half(&self) -> Option<bool>;
    }
    impl<A: ?Sized, B: ?Sized> Whole for &Pair<'_, A, B> {
        fn same_half(&self) -> Option<bool> { None }
    }
}
"#;

/// A part of the module where the crate has choices.
pub(super) const CHOICE: &str = "impl Outcome for subtle::Choice {
        fn holds(&self) -> bool { self.unwrap_u8() == 1 }
        fn of(holds: bool) -> Self { subtle::Choice::from(u8::from(holds)) }
    }";
