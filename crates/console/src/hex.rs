//! Bytes as hexadecimal digits.

/// The hexadecimal digits of bytes.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits; `None` for other text.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: char| digit.to_digit(16).map(|digit| digit as u8);
    let digits: Vec<u8> = text.chars().map(digit).collect::<Option<_>>()?;
    let bytes = digits.as_chunks().0.iter().map(|[high, low]| high << 4 | low).collect();
    digits.len().is_multiple_of(2).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_read_back_as_written() {
        assert_eq!(to_hex(&[0, 0xab, 0xff]), "00abff");
        assert_eq!(from_hex("00abFF"), Some(vec![0, 0xab, 0xff]));
        assert_eq!(from_hex(""), Some(Vec::new()));
        assert_eq!(["0", "0g", "0é"].map(from_hex), [None, None, None]);
    }
}
