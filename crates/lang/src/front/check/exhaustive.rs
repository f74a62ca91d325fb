//! Cases that a `match` leaves out.
//!
//! *Source*: Maranget, "Warnings for pattern matching" 2007, section 3. Numbers are looked at in the ranges between the ends
//! that patterns have.

use crate::{
    front::ast::{Fields, Int, Pattern, PatternKind, Program, Type},
    number::{Number, ONE},
};

/// The most patterns that are looked at, each time that one is.
const MAX_WORK: usize = 1 << 20;

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
                let ty = if let Type::Int(int) = ty { int.to_string() } else { String::new() };
                if lo == hi { write!(f, "{lo}{ty}") } else { write!(f, "{lo}{ty}..={hi}{ty}") }
            }
            Case::Tuple(parts) => write!(f, "({})", list(parts)),
            Case::Struct(name, fields) => write!(f, "{name} {}", named(fields)),
            Case::Variant(name, variant, Fields::Unit) => write!(f, "{name}::{variant}"),
            Case::Variant(name, variant, Fields::Tuple(parts)) => write!(f, "{name}::{variant}({})", list(parts)),
            Case::Variant(name, variant, Fields::Named(parts)) => write!(f, "{name}::{variant} {}", named(parts)),
        }
    }
}

/// The cases of a value of that type that no pattern matches; `None` if there are too many to look at.
pub(super) fn missing(program: &Program, ty: &Type, patterns: &[&Pattern]) -> Option<Vec<Case>> {
    let mut search = Search { program, work: 0 };
    let rows = patterns.iter().map(|pattern| vec![Some(*pattern)]).collect();
    let cases = search.missing(rows, &[ty])?;
    Some(cases.into_iter().flatten().collect())
}

/// Patterns of values side by side; `None` matches all.
type Row<'a> = Vec<Option<&'a Pattern>>;

struct Search<'p> {
    program: &'p Program,
    work: usize,
}

impl<'p> Search<'p> {
    /// The cases that no row matches, for values of these types.
    fn missing<'a>(&mut self, rows: Vec<Row<'a>>, types: &[&Type]) -> Option<Vec<Vec<Case>>> {
        self.work += 1 + rows.len() * types.len();
        if self.work > MAX_WORK {
            return None;
        }
        let is_any = |cell: &Option<&Pattern>| matches!(cell.map(|p| &p.kind), None | Some(PatternKind::Bind(_)));
        let Some(first) = rows.first() else { return Some(vec![vec![Case::Any; types.len()]]) };
        if first.iter().all(is_any) {
            return Some(Vec::new());
        }
        if rows.iter().all(|row| is_any(&row[0])) {
            return self.narrowed(&rows, types, &[], &|_| Some(Vec::new()), &|_| Case::Any);
        }
        match types[0] {
            Type::Bool => {
                let mut all = Vec::new();
                for value in [true, false] {
                    let of =
                        |kind: &PatternKind| matches!(kind, PatternKind::Bool(own) if *own == value).then(Vec::new);
                    all.extend(self.narrowed(&rows, types, &[], &of, &|_| Case::Bool(value))?);
                }
                Some(all)
            }
            Type::Tuple(fields) => {
                let fields: Vec<&Type> = fields.iter().collect();
                let of = |kind: &'a PatternKind| match kind {
                    PatternKind::Tuple(parts) => Some(parts.iter().map(Some).collect()),
                    _ => None,
                };
                self.narrowed(&rows, types, &fields, &of, &Case::Tuple)
            }
            Type::Named(name) => self.named(&rows, types, &name.text),
            ty => self.numbers(&rows, types, ty),
        }
    }

    /// The cases in which the first value is of one form, with parts of these types: `of` gives the parts of a pattern of that
    /// form, `case` puts cases of parts together.
    fn narrowed<'a>(
        &mut self,
        rows: &[Row<'a>],
        types: &[&Type],
        parts: &[&Type],
        of: &dyn Fn(&'a PatternKind) -> Option<Row<'a>>,
        case: &dyn Fn(Vec<Case>) -> Case,
    ) -> Option<Vec<Vec<Case>>> {
        let narrow = |row: &Row<'a>| {
            let own = match row[0].map(|pattern| &pattern.kind) {
                None | Some(PatternKind::Bind(_)) => Some(vec![None; parts.len()]),
                Some(kind) => of(kind),
            };
            own.map(|own| own.into_iter().chain(row[1..].iter().copied()).collect())
        };
        let rows: Vec<Row<'a>> = rows.iter().filter_map(narrow).collect();
        let types: Vec<&Type> = parts.iter().copied().chain(types[1..].iter().copied()).collect();
        let cases = self.missing(rows, &types)?;
        let whole = |mut cases: Vec<Case>| {
            let rest = cases.split_off(parts.len());
            [case(cases)].into_iter().chain(rest).collect()
        };
        Some(cases.into_iter().map(whole).collect())
    }

    fn named<'a>(&mut self, rows: &[Row<'a>], types: &[&Type], name: &str) -> Option<Vec<Vec<Case>>> {
        let program = self.program;
        if let Some(definition) = program.structs.get(name) {
            let fields: Vec<&Type> = definition.fields.iter().map(|(_, ty)| ty).collect();
            let names = || definition.fields.iter().map(|(name, _)| name);
            let of = |kind: &'a PatternKind| match kind {
                PatternKind::Struct(_, parts) => Some(in_order(names(), parts)),
                _ => None,
            };
            let case = |cases| Case::Struct(name.into(), names().cloned().zip::<Vec<Case>>(cases).collect());
            return self.narrowed(rows, types, &fields, &of, &case);
        }
        let mut all = Vec::new();
        for (variant, fields) in program.enums.get(name).map(|definition| &definition.variants)? {
            let of = |kind: &'a PatternKind| match (kind, fields) {
                (PatternKind::Variant(_, own, _), _) if own != variant => None,
                (PatternKind::Variant(_, _, Fields::Named(parts)), Fields::Named(names)) => {
                    Some(in_order(names.iter().map(|(name, _)| name), parts))
                }
                (PatternKind::Variant(_, _, parts), _) => Some(parts.all().into_iter().map(Some).collect()),
                _ => None,
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
            all.extend(self.narrowed(rows, types, &fields.all(), &of, &case)?);
        }
        Some(all)
    }

    fn numbers<'a>(&mut self, rows: &[Row<'a>], types: &[&Type], ty: &Type) -> Option<Vec<Vec<Case>>> {
        let int = match ty {
            Type::Int(int) => *int,
            Type::Natural => Int::Unsigned(32),
            _ => Int::Signed(32),
        };
        let mut starts = vec![int.min(), int.max() + ONE];
        for pattern in rows.iter().filter_map(|row| row[0]) {
            if let PatternKind::Range(lo, hi, _) = pattern.kind {
                starts.extend([lo, hi + ONE].into_iter().filter(|start| (int.min()..=int.max()).contains(start)));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let mut all = Vec::new();
        for (lo, hi) in starts.windows(2).map(|pair| (pair[0], pair[1] - ONE)) {
            let of = |kind: &'a PatternKind| {
                matches!(kind, PatternKind::Range(first, last, _) if *first <= lo && hi <= *last).then(Vec::new)
            };
            let whole = starts.len() == 2;
            let case = |_| if whole { Case::Any } else { Case::Range(lo, hi, ty.clone()) };
            all.extend(self.narrowed(rows, types, &[], &of, &case)?);
        }
        Some(all)
    }
}

/// The patterns of fields in the order of their names; those that are not there match all.
fn in_order<'a, 'n>(names: impl Iterator<Item = &'n String>, parts: &'a [(String, Pattern)]) -> Row<'a> {
    names.map(|name| parts.iter().find_map(|(own, part)| (own == name).then_some(part))).collect()
}
