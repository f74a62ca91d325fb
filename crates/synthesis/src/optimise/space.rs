//! Spaces of truth tables over GF(2).

/// A function of `6 + log2(WORDS)` variables: bit `x % 64` of word `x / 64` is the value at the point whose coordinates are the bits of x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table<const WORDS: usize>(pub(super) [u64; WORDS]);

impl<const WORDS: usize> Table<WORDS> {
    pub(super) const FALSE: Self = Table([0; WORDS]);

    pub(super) fn invert_if(mut self, invert: bool) -> Self {
        self.0.iter_mut().for_each(|word| *word ^= if invert { u64::MAX } else { 0 });
        self
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Table(std::array::from_fn(|k| self.0[k] & other.0[k]))
    }

    pub(super) fn xor(&self, other: &Self) -> Self {
        Table(std::array::from_fn(|k| self.0[k] ^ other.0[k]))
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Table(std::array::from_fn(|k| self.0[k] | other.0[k]))
    }

    /// The sum of the tables in a mask.
    pub(super) fn sum(values: &[Self], mask: u64) -> Self {
        let terms = values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
        terms.fold(Self::FALSE, |sum, (_, value)| sum.xor(value))
    }

    fn bit(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(64 * word + self.0[word].trailing_zeros() as usize)
    }
}

/// The span of the constants and of independent tables, in reduced echelon form.
pub(super) struct Space<const WORDS: usize> {
    /// Vectors with the point at which each is the only one that is true, and the tables that it is the sum of.
    rows: Vec<(Table<WORDS>, usize, u64)>,
    /// The places of the tables.
    places: Vec<usize>,
}

/// The bit of the constant true in a combination of tables.
const TRUE: u64 = 1 << 63;

impl<const WORDS: usize> Space<WORDS> {
    /// The constants, at these points.
    pub(super) fn new(care: &Table<WORDS>) -> Self {
        let mut space = Space { rows: Vec::with_capacity(64), places: Vec::with_capacity(64) };
        space.insert(*care, TRUE);
        space
    }

    /// The number of tables.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The place of a table.
    pub(super) fn place(&self, index: usize) -> usize {
        self.places[index]
    }

    /// The index of the table with a place.
    pub(super) fn index(&self, place: usize) -> Option<usize> {
        self.places.iter().position(|&p| p == place)
    }

    /// Adds a table, unless it is in the space.
    pub(super) fn add(&mut self, place: usize, table: &Table<WORDS>) {
        let (rest, combination) = self.reduce(table);
        if rest != Table::FALSE {
            self.insert(rest, combination | 1 << self.places.len());
            self.places.push(place);
        }
    }

    fn insert(&mut self, rest: Table<WORDS>, combination: u64) {
        let Some(pivot) = rest.first() else { return };
        for (row, _, of) in &mut self.rows {
            if row.bit(pivot) {
                *row = row.xor(&rest);
                *of ^= combination;
            }
        }
        self.rows.push((rest, pivot, combination));
    }

    /// The rest of a table, and the combination of tables that was subtracted.
    fn reduce(&self, table: &Table<WORDS>) -> (Table<WORDS>, u64) {
        let (mut rest, mut combination) = (*table, 0);
        for (row, pivot, of) in &self.rows {
            // No other row is true at the pivot, so the table itself decides.
            if table.bit(*pivot) {
                rest = rest.xor(row);
                combination ^= of;
            }
        }
        (rest, combination)
    }

    /// The tables whose sum is a table of the space, and whether the sum is negated.
    pub(super) fn combination(&self, table: &Table<WORDS>) -> Option<(u64, bool)> {
        let (rest, combination) = self.reduce(table);
        (rest == Table::FALSE).then_some((combination & !TRUE, combination & TRUE != 0))
    }

    /// The sum of a combination of tables, which are found at their places.
    pub(super) fn sum(&self, combination: u64, tables: &[Table<WORDS>]) -> Table<WORDS> {
        let indices = (0..self.len()).filter(|i| combination >> i & 1 == 1);
        indices.fold(Table::FALSE, |sum, i| sum.xor(&tables[self.places[i]]))
    }
}

/// Tables modulo a space, at up to 128 points: a linear map that sends the space to zero.
pub(super) struct Residues<'a, const WORDS: usize> {
    space: &'a Space<WORDS>,
    /// The points at which a residue is looked at, none of them a pivot.
    points: Vec<usize>,
    /// For each byte of the values at pivots, what they subtract.
    subtract: Vec<[u128; 256]>,
    /// The values of the space's tables at pivots and points.
    values: Vec<(u64, u128)>,
}

impl<'a, const WORDS: usize> Residues<'a, WORDS> {
    pub(super) fn new(space: &'a Space<WORDS>, tables: &[Table<WORDS>], care: &Table<WORDS>) -> Self {
        let mut pivots = Table::<WORDS>::FALSE;
        space.rows.iter().for_each(|(_, pivot, _)| pivots.0[pivot / 64] |= 1 << (pivot % 64));
        // An odd factor permutes the points. The first ones then have no common stride, in which tables of few variables look alike.
        let all = (0..64 * WORDS).map(|k| k * 433 % (64 * WORDS));
        let points = all.filter(|&point| care.bit(point) && !pivots.bit(point)).take(128).collect();
        let mut residues = Residues { space, points, subtract: Vec::new(), values: Vec::new() };
        let rows: Vec<u128> = space.rows.iter().map(|(row, ..)| residues.at_points(row)).collect();
        for byte in rows.chunks(8) {
            let mut sums = [0u128; 256];
            for mask in 1..1usize << byte.len() {
                sums[mask] = sums[mask & (mask - 1)] ^ byte[mask.trailing_zeros() as usize];
            }
            residues.subtract.push(sums);
        }
        residues.values = space.places.iter().map(|&place| residues.values_of(&tables[place])).collect();
        residues
    }

    fn at_points(&self, table: &Table<WORDS>) -> u128 {
        self.points.iter().enumerate().fold(0, |all, (k, &point)| all | u128::from(table.bit(point)) << k)
    }

    fn values_of(&self, table: &Table<WORDS>) -> (u64, u128) {
        let rows = self.space.rows.iter().enumerate();
        let pivots = rows.fold(0, |all, (k, (_, pivot, _))| all | u64::from(table.bit(*pivot)) << k);
        (pivots, self.at_points(table))
    }

    fn residue(&self, (pivots, points): (u64, u128)) -> u128 {
        let bytes = self.subtract.iter().enumerate();
        bytes.fold(points, |rest, (k, sums)| rest ^ sums[(pivots >> (8 * k) & 255) as usize])
    }

    /// The residue of a table.
    pub(super) fn of(&self, table: &Table<WORDS>) -> u128 {
        self.residue(self.values_of(table))
    }

    /// The span of the products of a table with all tables of the space.
    pub(super) fn products_with(&self, table: &Table<WORDS>) -> Span {
        let (pivots, points) = self.values_of(table);
        let mut span = Span { rows: Vec::with_capacity(self.values.len()) };
        for (i, value) in self.values.iter().enumerate() {
            span.add(self.residue((pivots & value.0, points & value.1)), 1 << i);
        }
        span
    }
}

/// A span of residues: rows, each with its lowest bit and the products that it is the sum of, that have no lowest bits of earlier rows.
pub(super) struct Span {
    rows: Vec<(u128, u64)>,
}

impl Span {
    fn add(&mut self, residue: u128, combination: u64) {
        let (rest, combination) = self.reduce(residue, combination);
        if rest != 0 {
            self.rows.push((rest, combination));
        }
    }

    fn reduce(&self, mut residue: u128, mut combination: u64) -> (u128, u64) {
        for (row, of) in &self.rows {
            if residue & row & row.wrapping_neg() != 0 {
                residue ^= row;
                combination ^= of;
            }
        }
        (residue, combination)
    }

    /// The products whose sum has a residue.
    pub(super) fn combination(&self, residue: u128) -> Option<u64> {
        let (rest, combination) = self.reduce(residue, 0);
        (rest == 0).then_some(combination)
    }

    /// The products of this span and of another one whose sum has a residue.
    pub(super) fn combination_with(&self, other: &Span, residue: u128) -> Option<(u64, u64)> {
        let (residue, mine) = self.reduce(residue, 0);
        let mut rows: Vec<(u128, u64, u64)> = Vec::with_capacity(other.rows.len());
        let reduce = |rows: &[(u128, u64, u64)], mut residue: u128, mut mine: u64, mut theirs: u64| {
            for (row, a, b) in rows {
                if residue & row & row.wrapping_neg() != 0 {
                    residue ^= row;
                    mine ^= a;
                    theirs ^= b;
                }
            }
            (residue, mine, theirs)
        };
        for &(row, of) in &other.rows {
            let (row, a) = self.reduce(row, 0);
            let (row, a, b) = reduce(&rows, row, a, of);
            if row != 0 {
                rows.push((row, a, b));
            }
        }
        let (rest, mine, theirs) = reduce(&rows, residue, mine, 0);
        (rest == 0).then_some((mine, theirs))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table() -> impl Strategy<Value = Table<4>> {
        any::<[u64; 4]>().prop_map(Table)
    }

    fn space(tables: &[Table<4>], care: &Table<4>) -> Space<4> {
        let mut space = Space::new(care);
        tables.iter().enumerate().for_each(|(place, table)| space.add(place, table));
        space
    }

    proptest! {
        #[test]
        fn sums_are_found_again(tables in proptest::collection::vec(table(), 1..20), care in table(), mask: u64, invert: bool) {
            let tables: Vec<_> = tables.iter().map(|table| table.and(&care)).collect();
            let space = space(&tables, &care);
            let sum = Table::sum(&tables, mask).invert_if(invert).and(&care);
            let (combination, inverted) = space.combination(&sum).expect("a sum of its tables");
            prop_assert!(space.sum(combination, &tables).invert_if(inverted).and(&care) == sum);
            // One more point makes it another function, beyond a space of few tables.
            let mut other = sum;
            other.0[0] ^= care.0[0] & care.0[0].wrapping_neg();
            prop_assert!(other == sum || space.combination(&other).is_none());
        }

        #[test]
        fn products_are_found_again(
            tables in proptest::collection::vec(table(), 2..20), care in table(), a: u64, b: u64, c: u64,
            d in 0usize..20, e in 0usize..20,
        ) {
            let tables: Vec<_> = tables.iter().map(|table| table.and(&care)).collect();
            let (d, e) = (d % tables.len(), e % tables.len());
            let space = space(&tables, &care);
            let residues = Residues::new(&space, &tables, &care);
            let product = |a: u64, d: usize| Table::sum(&tables, a).and(&tables[d]);
            let spans = [d, e].map(|d| residues.products_with(&tables[d]));
            let rest = |target: &Table<4>, products: &[(u64, usize)]| {
                let rest = products.iter().fold(*target, |rest, &(a, d)| rest.xor(&space.sum(a, &tables).and(&tables[d])));
                residues.of(&rest)
            };
            let one = product(a, d).xor(&Table::sum(&tables, c));
            let found = spans[0].combination(residues.of(&one)).expect("a product with d");
            prop_assert_eq!(rest(&one, &[(found, d)]), 0);
            let two = one.xor(&product(b, e));
            let found = spans[0].combination_with(&spans[1], residues.of(&two)).expect("products with d and e");
            prop_assert_eq!(rest(&two, &[(found.0, d), (found.1, e)]), 0);
            prop_assert_eq!(residues.of(&Table::sum(&tables, c)), 0);
        }
    }
}
