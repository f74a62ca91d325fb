// Which friends are near one of them, and where they are. Who is farther away, or has left, is not shown, nor is anybody to a friend
// that is not on the map.

const WIDTH: usize = PARTY_0::WIDTH;
const HEIGHT: usize = PARTY_0::HEIGHT;
const FRIENDS: usize = PARTY_0::FRIENDS;
const ME: usize = PARTY_0::ME;
// So many columns and rows away is near.
const RADIUS: usize = PARTY_0::RADIUS;

// All zero for who is not near.
struct Sight {
    near: bool,
    x: u8,
    y: u8,
}

struct View {
    friends: [Sight; FRIENDS],
}

// The cells that are near the one that is set. As there is one at most, no AND gate is needed.
fn around(cells: [[bool; WIDTH]; HEIGHT]) -> [[bool; WIDTH]; HEIGHT] {
    let mut rows = [[false; WIDTH]; HEIGHT];
    for y in 0usize..HEIGHT {
        for x in 0usize..WIDTH {
            for near in 0usize..WIDTH {
                if near <= x + RADIUS && x <= near + RADIUS {
                    rows[y][near] = rows[y][near] ^ cells[y][x];
                }
            }
        }
    }
    let mut all = [[false; WIDTH]; HEIGHT];
    for y in 0usize..HEIGHT {
        for near in 0usize..HEIGHT {
            if near <= y + RADIUS && y <= near + RADIUS {
                for x in 0usize..WIDTH {
                    all[near][x] = all[near][x] ^ rows[y][x];
                }
            }
        }
    }
    all
}

// Where the one cell is that is set.
fn find(cells: [[bool; WIDTH]; HEIGHT]) -> Sight {
    let mut found = Sight { near: false, x: 0u8, y: 0u8 };
    for y in 0usize..HEIGHT {
        for x in 0usize..WIDTH {
            let here = cells[y][x];
            found.near = found.near ^ here;
            found.x = found.x ^ (if here { x as u8 } else { 0u8 });
            found.y = found.y ^ (if here { y as u8 } else { 0u8 });
        }
    }
    found
}

pub fn main(map: [[[bool; WIDTH]; HEIGHT]; FRIENDS], ask: bool) -> View {
    let mut view = View { friends: [Sight { near: false, x: 0u8, y: 0u8 }; FRIENDS] };
    let near = around(map[ME]);
    for friend in 0usize..FRIENDS {
        let mut cells = map[friend];
        if friend != ME {
            for y in 0usize..HEIGHT {
                for x in 0usize..WIDTH {
                    cells[y][x] = cells[y][x] & near[y][x];
                }
            }
        }
        view.friends[friend] = find(cells);
    }
    view
}
