//! Cases that a `match` does not cover.
//!
//! *Source*: Maranget, "Warnings for pattern matching" 2007, section 3. Numbers are split into the ranges between the ends
//! that patterns have.

use std::ops::Range;

use crate::{
    front::ast::{Fields, Int, Pattern, PatternKind, Program, Type, field_of},
    number::{Number, ONE},
};

/// The most visits to parts of patterns, over a whole source.
pub(super) const MAX_WORK: usize = 1 << 22;
/// The most cases to report.
const MAX_CASES: usize = 3;

/// Values that no pattern matches.
#[derive(Clone)]
pub(super) enum Case {
    Any,
    Bool(bool),
    /// And whether these are all numbers of the type.
    Range(Number, Number, Type),
    Tuple(Vec<Case>),
    Struct(String, Vec<(String, Case)>),
    Variant(String, String, Fields<Case>),
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |cases: &[Case]| cases.iter().map(Case::to_string).collect::<Vec<_>>().join(", ");
        let named = |fields: &[(String, Case)]| {
            let is_any = |case: &Case| matches!(case, Case::Any);
            let told: Vec<String> = fields
                .iter()
                .filter(|(_, case)| !is_any(case))
                .map(|(name, case)| format!("{name}: {case}"))
                .chain(fields.iter().any(|(_, case)| is_any(case)).then(|| "..".into()))
                .collect();
            format!("{{ {} }}", told.join(", "))
        };
        match self {
            Case::Any => f.write_str("_"),
            Case::Bool(value) => value.fmt(f),
            Case::Range(lo, hi, ty) => {
                let [lo, hi] = [*lo, *hi].map(|end| match ty {
                    Type::Int(int) if int.scalar().bits > 128 && end == int.max() => format!("{int}::MAX"),
                    Type::Int(int) if int.scalar().bits > 128 && end == int.min() => format!("{int}::MIN"),
                    Type::Int(int) => format!("{end}{int}"),
                    _ => end.to_string(),
                });
                if lo == hi { f.write_str(&lo) } else { write!(f, "{lo}..={hi}") }
            }
            Case::Tuple(parts) => write!(f, "({})", list(parts)),
            Case::Struct(name, fields) => write!(f, "{name} {}", named(fields)),
            Case::Variant(name, variant, Fields::Unit) => write!(f, "{name}::{variant}"),
            Case::Variant(name, variant, Fields::Tuple(parts)) => write!(f, "{name}::{variant}({})", list(parts)),
            Case::Variant(name, variant, Fields::Named(parts)) => write!(f, "{name}::{variant} {}", named(parts)),
        }
    }
}

/// The outcome of looking at the patterns of a `match`.
pub(super) struct Looked {
    /// Some of the cases that no pattern matches, and the number of all of them.
    pub(super) missing: Vec<Case>,
    pub(super) count: usize,
    /// The patterns that match nothing that earlier ones do not.
    pub(super) unreached: Vec<usize>,
}

/// Examines patterns for values of that type: one search splits the values into cases, each matched by no pattern or entirely
/// by a first one. Adds its work to `work`, the total for all `match`es of the source; `None` if that is too much.
pub(super) fn look(program: &Program, ty: &Type, patterns: &[&Pattern], work: &mut usize) -> Option<Looked> {
    let mut search = Search { program, work, reached: vec![false; patterns.len()] };
    let rows = patterns.iter().enumerate().map(|(arm, pattern)| Row { arm, cells: vec![Some(*pattern)] }).collect();
    let missing = search.missing(rows, &[ty])?;
    let unreached = (0..patterns.len()).filter(|&arm| !search.reached[arm]).collect();
    Some(Looked { missing: missing.some.into_iter().flatten().collect(), count: missing.count, unreached })
}

/// Patterns for values side by side, where `None` matches everything, and the arm they belong to.
#[derive(Clone)]
struct Row<'a> {
    arm: usize,
    cells: Vec<Option<&'a Pattern>>,
}

impl<'a> Row<'a> {
    /// The form of the first value; `None` if any will do.
    fn first(&self) -> Option<&'a PatternKind> {
        self.cells[0].map(|pattern| &pattern.kind).filter(|kind| !matches!(kind, PatternKind::Bind(_)))
    }

    fn matches_all(&self) -> bool {
        self.cells.iter().all(|cell| cell.is_none_or(|pattern| matches!(pattern.kind, PatternKind::Bind(_))))
    }
}

/// Cases that no row matches: some of them, each a list of values side by side, and their total number.
#[derive(Default)]
struct Missing {
    some: Vec<Vec<Case>>,
    count: usize,
}

impl Missing {
    fn add(&mut self, more: Missing) {
        self.count += more.count;
        self.some.extend(more.some.into_iter().take(MAX_CASES.saturating_sub(self.some.len())));
    }
}

struct Search<'p, 'w> {
    program: &'p Program,
    work: &'w mut usize,
    /// Set for each arm that matches something first.
    reached: Vec<bool>,
}

impl<'p> Search<'p, '_> {
    fn charge(&mut self, cells: usize) -> Option<()> {
        *self.work = self.work.saturating_add(cells);
        (*self.work <= MAX_WORK).then_some(())
    }

    /// The cases that no row matches, for values of these types.
    fn missing<'a>(&mut self, rows: Vec<Row<'a>>, types: &[&Type]) -> Option<Missing> {
        self.charge(1 + rows.len().max(1) * types.len())?;
        let Some(first) = rows.first() else {
            return Some(Missing { some: vec![vec![Case::Any; types.len()]], count: 1 });
        };
        if first.matches_all() {
            self.reached[first.arm] = true;
            return Some(Missing::default());
        }
        if rows.iter().all(|row| row.first().is_none()) {
            return self.narrowed(&rows, types, &[], &|_| Vec::new(), &|_| Case::Any);
        }
        match types[0] {
            Type::Bool => {
                let of = |kind: &PatternKind| if let PatternKind::Bool(true) = kind { 0..1 } else { 1..2 };
                let mut all = Missing::default();
                for (rows, value) in self.split(rows, 2, &of)?.into_iter().zip([true, false]) {
                    all.add(self.narrowed(&rows, types, &[], &|_| Vec::new(), &|_| Case::Bool(value))?);
                }
                Some(all)
            }
            Type::Tuple(fields) => {
                let fields: Vec<&Type> = fields.iter().collect();
                let parts = |kind: &'a PatternKind| match kind {
                    PatternKind::Tuple(parts) => parts.iter().map(Some).collect(),
                    _ => vec![None; fields.len()],
                };
                self.narrowed(&rows, types, &fields, &parts, &Case::Tuple)
            }
            Type::Named(name) => self.named(rows, types, &name.text),
            ty => self.numbers(rows, types, ty),
        }
    }

    /// The rows that match values of each form; `of` gives the forms that a pattern matches.
    fn split<'a>(
        &mut self,
        rows: Vec<Row<'a>>,
        forms: usize,
        of: &dyn Fn(&'a PatternKind) -> Range<usize>,
    ) -> Option<Vec<Vec<Row<'a>>>> {
        self.charge(forms)?;
        let mut split = vec![Vec::new(); forms];
        for row in rows {
            let own = row.first().map_or(0..forms, of);
            self.charge(own.len().saturating_mul(row.cells.len()))?;
            own.for_each(|form| split[form].push(row.clone()));
        }
        Some(split)
    }

    /// The cases in which the first value is of one form, with parts of these types: `of` gives the parts of a pattern of that
    /// form, `case` puts cases of parts together.
    fn narrowed<'a>(
        &mut self,
        rows: &[Row<'a>],
        types: &[&Type],
        parts: &[&Type],
        of: &dyn Fn(&'a PatternKind) -> Vec<Option<&'a Pattern>>,
        case: &dyn Fn(Vec<Case>) -> Case,
    ) -> Option<Missing> {
        let narrow = |row: &Row<'a>| {
            let own = row.first().map_or_else(|| vec![None; parts.len()], of);
            Row { arm: row.arm, cells: own.into_iter().chain(row.cells[1..].iter().copied()).collect() }
        };
        let types: Vec<&Type> = parts.iter().chain(&types[1..]).copied().collect();
        let Missing { some, count } = self.missing(rows.iter().map(narrow).collect(), &types)?;
        let whole = |mut cases: Vec<Case>| {
            let rest = cases.split_off(parts.len());
            [case(cases)].into_iter().chain(rest).collect()
        };
        Some(Missing { some: some.into_iter().map(whole).collect(), count })
    }

    fn named<'a>(&mut self, rows: Vec<Row<'a>>, types: &[&Type], name: &str) -> Option<Missing> {
        let program = self.program;
        if let Some(definition) = program.structs.get(name) {
            let fields: Vec<&Type> = definition.fields.iter().map(|(_, ty)| ty).collect();
            let names = || definition.fields.iter().map(|(name, _)| name);
            let of = |kind: &'a PatternKind| match kind {
                PatternKind::Struct(_, parts) => in_order(names(), parts),
                _ => vec![None; fields.len()],
            };
            let case = |cases| Case::Struct(name.into(), names().cloned().zip::<Vec<Case>>(cases).collect());
            return self.narrowed(&rows, types, &fields, &of, &case);
        }
        let definition = program.enums.get(name)?;
        let variants = &definition.variants;
        let form = |kind: &PatternKind| match kind {
            PatternKind::Variant(_, own, _) => definition.place(own).map_or(0..0, |at| at..at + 1),
            _ => 0..0,
        };
        let mut all = Missing::default();
        for (rows, (variant, fields)) in self.split(rows, variants.len(), &form)?.into_iter().zip(variants) {
            let of = |kind: &'a PatternKind| match (kind, fields) {
                (PatternKind::Variant(_, _, Fields::Named(parts)), Fields::Named(names)) => {
                    in_order(names.iter().map(|(name, _)| name), parts)
                }
                (PatternKind::Variant(_, _, parts), _) => parts.all().into_iter().map(Some).collect(),
                _ => Vec::new(),
            };
            let case = |cases: Vec<Case>| {
                let fields = match fields {
                    Fields::Unit => Fields::Unit,
                    Fields::Tuple(_) => Fields::Tuple(cases),
                    Fields::Named(names) => {
                        Fields::Named(names.iter().map(|(name, _)| name.clone()).zip(cases).collect())
                    }
                };
                Case::Variant(name.into(), variant.clone(), fields)
            };
            all.add(self.narrowed(&rows, types, &fields.all(), &of, &case)?);
        }
        Some(all)
    }

    fn numbers<'a>(&mut self, rows: Vec<Row<'a>>, types: &[&Type], ty: &Type) -> Option<Missing> {
        let int = if let Type::Int(int) = ty { *int } else { Int::Signed(32) };
        let mut starts = vec![int.min(), int.max() + ONE];
        for pattern in rows.iter().filter_map(Row::first) {
            if let PatternKind::Numbers(lo, hi) = pattern {
                starts.extend([*lo, *hi + ONE].into_iter().filter(|start| (int.min()..=int.max()).contains(start)));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let whole = starts.len() == 2;
        let place = |start: Number| starts.partition_point(|own| *own < start);
        let of = |kind: &PatternKind| match kind {
            PatternKind::Numbers(lo, hi) => place(*lo)..place(*hi + ONE).min(starts.len() - 1),
            _ => 0..0,
        };
        let split = self.split(rows, starts.len() - 1, &of)?;
        let mut all = Missing::default();
        for (rows, ends) in split.into_iter().zip(starts.windows(2)) {
            let (lo, hi) = (ends[0], ends[1] - ONE);
            let case = |_| if whole { Case::Any } else { Case::Range(lo, hi, ty.clone()) };
            all.add(self.narrowed(&rows, types, &[], &|_| Vec::new(), &case)?);
        }
        Some(all)
    }
}

/// The patterns of fields, sorted by name; a missing one matches everything.
fn in_order<'a, 'n>(
    names: impl Iterator<Item = &'n String>,
    parts: &'a [(String, Pattern)],
) -> Vec<Option<&'a Pattern>> {
    names.map(|name| field_of(parts, name)).collect()
}
