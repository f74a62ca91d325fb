//! An array or a list from a CSV file: a row for each element.

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use garblet_circuit::{
    Bits, Port, Type,
    diagnostic::{Diagnostic, Diagnostics, Place},
};

/// The most cells with an error that are reported.
const MOST_ERRORS: usize = 20;

/// Reads the value of an array or a list from CSV: the first line names the columns, each further line is an element. A list may
/// have fewer than it has room for.
///
/// For an array of records there is a column for each field, in any order; for other arrays there is one column, named like the
/// port. A cell is a value as in JSON, where strings need no quotation marks.
///
/// *Errors*: a port that is neither, a column too many or too few, another number of rows than elements, more than a list has room for, and cells that
/// are no value of their column's type; all cells at once.
pub fn read_csv(port: &Port, file: &str, text: &str) -> Result<Bits, Diagnostics> {
    let (Type::Array(element, count) | Type::List(element, count)) = &port.ty else {
        let message = format!("CSV is for arrays, input `{}` is {}", port.name, port.ty);
        return Err(Diagnostic::new(file, message).hint("give the input as JSON").into());
    };
    let columns: Vec<(&str, &Type)> = match &**element {
        Type::Record(fields) => fields.iter().map(|(name, ty)| (name.as_str(), ty)).collect(),
        other => vec![(&port.name, other)],
    };
    let table = Table { file, text };
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let places = table.header(&mut reader, &columns)?;
    let mut bits = Bits::default();
    let mut wrong = Vec::new();
    let mut rows = 0u64;
    for row in reader.records() {
        let row = row.map_err(|error| table.malformed(&error))?;
        rows += 1;
        for (&place, (name, ty)) in places.iter().zip(&columns) {
            match cell(row.get(place).unwrap_or_default(), ty) {
                Ok(value) => bits.append(&value),
                Err(error) => wrong.push(table.in_cell(&row, place, name, error)),
            }
            if wrong.len() == MOST_ERRORS {
                return Err(Diagnostics::check(wrong).expect_err("there are errors"));
            }
        }
        if rows > u64::from(*count) {
            break;
        }
    }
    Diagnostics::check(wrong)?;
    let most = u64::from(*count);
    let is_list = matches!(port.ty, Type::List(..));
    if rows > most || rows < most && !is_list {
        let got = if rows > most { format!("more than {count}") } else { rows.to_string() };
        let expected = if is_list { "at most " } else { "" };
        let message = format!("input `{}` is {}, expected {expected}{count} rows, got {got}", port.name, port.ty);
        return Err(Diagnostic::new(file, message).hint("the first line, which names the columns, is no row").into());
    }
    Ok(if is_list { super::list::pad(rows as usize, &bits, &port.ty, *count) } else { bits })
}

/// A cell as JSON: numbers, Booleans, arrays and objects as they stand, all else as a string.
fn cell(text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
    let is_json = match ty {
        Type::Array(..) | Type::List(..) | Type::Record(_) | Type::Bytes(_) | Type::Enum(_) => {
            text.starts_with(['[', '{', '"'])
        }
        _ => serde_json::from_str::<serde_json::Value>(text).is_ok(),
    };
    if text.is_empty() && ty.width() > 0 {
        return Err(Diagnostic::new("", format!("expected {ty}, got an empty cell")));
    }
    let quoted = serde_json::Value::from(text).to_string();
    let json = match (is_json, ty) {
        (true, _) => text.to_string(),
        (false, Type::Bytes(_)) if !text.starts_with("0x") => format!("{{\"text\": {quoted}}}"),
        (false, _) => quoted,
    };
    super::read_value("", &json, ty)
}

/// A CSV text, for messages.
struct Table<'a> {
    file: &'a str,
    text: &'a str,
}

impl Table<'_> {
    /// The place of each column in a row.
    fn header(&self, reader: &mut Reader<&[u8]>, columns: &[(&str, &Type)]) -> Result<Vec<usize>, Diagnostics> {
        let header = reader.headers().map_err(|error| self.malformed(&error))?.clone();
        let mut wrong = Vec::new();
        for (k, name) in header.iter().enumerate() {
            let place = || self.place(&header, k);
            if !columns.iter().any(|(known, _)| *known == name) {
                let error = Diagnostic::new(
                    self.file,
                    format!("there is no field `{}`", garblet_circuit::diagnostic::clip(name)),
                );
                wrong.push(error.at(place()).suggest(name, columns.iter().map(|(known, _)| *known)));
            } else if header.iter().take(k).any(|before| before == name) {
                wrong.push(Diagnostic::new(self.file, format!("column `{name}` appears twice")).at(place()));
            }
        }
        let mut places = Vec::with_capacity(columns.len());
        for (name, ty) in columns {
            match header.iter().position(|got| got == *name) {
                Some(place) => places.push(place),
                None => wrong.push(
                    Diagnostic::new(self.file, format!("column `{name}` ({ty}) is missing"))
                        .hint("the first line names the columns"),
                ),
            }
        }
        Diagnostics::check(wrong)?;
        Ok(places)
    }

    fn in_cell(&self, row: &StringRecord, column: usize, name: &str, error: Diagnostic) -> Diagnostic {
        let message = error.message.strip_prefix("value: ").unwrap_or(&error.message);
        let found = Diagnostic { hint: error.hint, ..Diagnostic::new(self.file, format!("field `{name}`: {message}")) };
        found.at(self.place(row, column))
    }

    /// A cell's place: cells are looked for in the row's first line one after another.
    fn place(&self, row: &StringRecord, column: usize) -> Place {
        let number = row.position().map_or(1, csv::Position::line).max(1);
        let line = self.text.lines().nth(number as usize - 1).unwrap_or_default();
        let mut at = 0..0;
        for (k, cell) in row.iter().enumerate().take(column + 1) {
            let from = match line[at.end..].find(',') {
                Some(comma) if k > 0 => at.end + comma + 1,
                _ => at.end,
            };
            match line[from..].find(cell) {
                Some(found) => at = from + found..from + found + cell.len(),
                None => break,
            }
        }
        Place::in_line(number, line, at)
    }

    fn malformed(&self, error: &csv::Error) -> Diagnostic {
        match error.kind() {
            ErrorKind::UnequalLengths { pos: Some(position), expected_len, len } => {
                let number = position.line().max(1);
                let line = self.text.lines().nth(number as usize - 1).unwrap_or_default();
                Diagnostic::new(self.file, format!("expected {expected_len} cells, got {len}"))
                    .at(Place::in_line(number, line, 0..line.len()))
                    .hint("every line has as many cells as the first one, which names the columns")
            }
            _ => Diagnostic::new(self.file, format!("is no CSV: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn people(count: u32) -> Port {
        let kind = Type::Enum(vec![("Guest".into(), vec![]), ("Member".into(), vec![Type::Unsigned(4)])]);
        let fields = vec![
            ("age".into(), Type::Unsigned(7)),
            ("balance".into(), Type::Signed(8)),
            ("code".into(), Type::Array(Box::new(Type::Unsigned(8)), 2)),
            ("kind".into(), kind),
        ];
        Port::new("people", Type::Array(Box::new(Type::Record(fields)), count))
    }

    fn read(count: u32, text: &str) -> Result<String, String> {
        let bits = read_csv(&people(count), "people.csv", text).map_err(|e| e.to_string())?;
        Ok(super::super::to_json(&people(count).ty, &bits).to_string())
    }

    #[test]
    fn rows_become_elements() {
        let text = "kind, age,code,balance\nGuest,42,ab,-3\n\"{\"\"Member\"\": 5}\",0x7f,\"[1, 2]\",\"4\"\n";
        let rows = r#"[{"age":42,"balance":-3,"code":[97,98],"kind":"Guest"},{"age":127,"balance":4,"code":[1,2],"kind":{"Member":[5]}}]"#;
        assert_eq!(read(2, text).unwrap(), rows);
        assert_eq!(read(0, "age,balance,code,kind\n").unwrap(), "[]");
    }

    #[test]
    fn plain_arrays_have_one_column() {
        let port = Port::new("ids", Type::Array(Box::new(Type::Unsigned(4)), 3));
        assert_eq!(read_csv(&port, "ids.csv", "ids\n1\n2\n15\n").unwrap().to_string(), "100001001111");
        let number = Port::new("id", Type::Unsigned(4));
        let error = read_csv(&number, "ids.csv", "id\n1\n").unwrap_err().to_string();
        assert_eq!(error, "ids.csv: CSV is for arrays, input `id` is u4");
    }

    #[test]
    fn lists_take_fewer_rows_and_columns_decimal_numbers() {
        let row = Type::Record(vec![("id".into(), Type::Unsigned(4)), ("price".into(), Type::Fixed(4, 4))]);
        let port = Port::new("offers", Type::List(Box::new(row), 3));
        let read =
            |text: &str| read_csv(&port, "o.csv", text).map(|bits| super::super::to_json(&port.ty, &bits).to_string());
        assert_eq!(read("price,id\n").unwrap(), "[]");
        assert_eq!(
            read("price,id\n-1.55,3\n\"2\",4\n").unwrap(),
            r#"[{"id":3,"price":"-1.5625"},{"id":4,"price":"2"}]"#
        );
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            refused("price,id\n1,1\n1,2\n1,3\n1,4\n"),
            "o.csv: input `offers` is [{id: u4, price: fixed<4, 4>}; ..3], expected at most 3 rows, got more than 3"
        );
        assert!(
            refused("price,id\n8,1\n")
                .starts_with("o.csv:2:1: field `price`: expected fixed<4, 4>, got 8, which is out of range")
        );
        assert!(refused("price,id\n1,1\n1.5,x\n").starts_with("o.csv:3:5: field `id`: expected u4"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(rows in "[a-z0-9é,\"{}\\[\\]:x \n-]{0,60}", header: bool) {
            let text = format!("{}{rows}", if header { "age,balance,code,kind\n" } else { "" });
            if let Ok(bits) = read_csv(&people(2), "people.csv", &text) {
                prop_assert_eq!(bits.len() as u64, people(2).ty.width());
            }
        }
    }

    #[test]
    fn every_mismatch_names_its_place() {
        for (text, expected) in [
            ("age,balance,code,kind\n", "people.csv: input `people` is TYPE, expected 1 rows, got 0"),
            (
                "age,balance,code,kind\n1,1,ab,Guest\n1,1,ab,Guest\n",
                "people.csv: input `people` is TYPE, expected 1 rows, got more than 1",
            ),
            ("age,balance,code\n1,1,ab\n", "people.csv: column `kind` (enum {Guest, Member(u4)}) is missing"),
            ("age,ballance,code,kind,balance\n", "people.csv:1:5: there is no field `ballance`"),
            ("age,balance,code,kind,age\n", "people.csv:1:23: column `age` appears twice"),
            (
                "age,balance,code,kind\n128,1,ab,Guest\n",
                "people.csv:2:1: field `age`: expected u7, got 128, which is out of range",
            ),
            ("age,balance,code,kind\n12,x,ab,Guest\n", "people.csv:2:4: field `balance`: "),
            (
                "age,balance,code,kind\n12,1,abc,Guest\n",
                "people.csv:2:6: field `code`: expected [u8; 2], that is 2 bytes of UTF-8, got 3",
            ),
            ("age,balance,code,kind\n12,1,ab,Gast\n", "people.csv:2:9: field `kind`: there is no variant `Gast`"),
            (
                "age,balance,code,kind\n12,1,,Guest\n",
                "people.csv:2:6: field `code`: expected [u8; 2], got an empty cell",
            ),
            ("age,balance,code,kind\n12,1\n", "people.csv:2:1: expected 4 cells, got 2"),
        ] {
            let error = read(1, text).unwrap_err();
            let expected = expected.replace("TYPE", &people(1).ty.to_string());
            assert!(error.starts_with(&expected), "{text:?}: {error}");
        }
        let errors = read(2, "age,balance,code,kind\n128,1,ab,Guest\n1,128,ab,Guest\n").unwrap_err();
        assert_eq!(errors.lines().count(), 2);
    }
}
