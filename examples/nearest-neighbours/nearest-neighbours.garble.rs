// The class that most of the three nearest of some labelled points have, for a point that stays private.

enum Class {
    Benign,
    Malignant,
}

struct Sample {
    x: i16,
    y: i16,
    class: Class,
}

struct Point {
    x: i16,
    y: i16,
}

struct Neighbour {
    distance: u32,
    malignant: bool,
}

fn square(a: i16, b: i16) -> u32 {
    let difference = (a as i32) - (b as i32);
    (difference * difference) as u32
}

pub fn main(samples: [Sample; 8], point: Point) -> Class {
    let far = Neighbour { distance: 4294967295u32, malignant: false };
    let mut nearest = [far; 3];
    for sample in samples {
        let malignant = match sample.class {
            Class::Benign => false,
            Class::Malignant => true,
        };
        let distance = (square(sample.x, point.x) >> 1u8) + (square(sample.y, point.y) >> 1u8);
        let mut new = Neighbour { distance: distance, malignant: malignant };
        for k in 0usize..3usize {
            let old = nearest[k];
            if new.distance < old.distance {
                nearest[k] = new;
                new = old;
            }
        }
    }
    let mut votes = 0u8;
    for neighbour in nearest {
        if neighbour.malignant {
            votes += 1u8;
        }
    }
    if votes >= 2u8 { Class::Malignant } else { Class::Benign }
}
