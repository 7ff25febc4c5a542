//! [`Space`]: the position of every entity in the latent box of its type.

use std::fmt;

use super::config::SynthSettings;

/// A displacement in the latent box.
pub(super) type Shift = [i32; 3];

/// Types and latent positions, by arithmetic on ids and one table shared by all types.
///
/// The entities of a type have consecutive ids. Each type has its own box of `side³` integer
/// points. The first `side³` entities of a type stand one on each point, from the centre of the
/// box outwards; the remaining ones share the points of the first. Small ids within a type are thus
/// central, and a relation that takes its heads in the order of ids stays in a well-connected core.
#[derive(Debug)]
pub(super) struct Space {
    entities: u64,
    types: u64,
    side: i32,
    /// The point of each entity of a type, in order of ids.
    points: Vec<[i16; 3]>,
    /// The first entity on each point, as its position within its type.
    residents: Vec<u32>,
}

impl Space {
    pub(super) fn new(settings: &SynthSettings) -> Self {
        let side = cube_root(settings.type_size());
        let mut residents: Vec<u32> = (0..(side * side * side) as u32).collect();
        let mut cells = residents.clone();
        // The keyed hash keeps ids within one shell from running along an axis.
        cells.sort_by_cached_key(|&cell| {
            (eccentricity(point_of(cell, side), side), mix(settings.seed ^ u64::from(cell)))
        });
        for (position, &cell) in cells.iter().enumerate() {
            residents[cell as usize] = position as u32;
        }
        let points = cells.iter().map(|&cell| point_of(cell, side).map(|x| x as i16)).collect();
        Self { entities: settings.entities, types: settings.types, side, points, residents }
    }

    pub(super) fn entities(&self) -> u32 {
        self.entities as u32
    }

    pub(super) fn types(&self) -> u32 {
        self.types as u32
    }

    /// The farthest a translation moves along one axis: a third of the box.
    pub(super) fn reach(&self) -> i32 {
        (self.side / 3).max(1)
    }

    /// The ids of a type's entities.
    pub(super) fn members(&self, of_type: u32) -> std::ops::Range<u32> {
        self.start(of_type)..self.start(of_type + 1)
    }

    pub(super) fn type_of(&self, entity: u32) -> u32 {
        (((u64::from(entity) + 1) * self.types - 1) / self.entities) as u32
    }

    /// The entity of a type that stands at `from + shift`, unless that is outside the box or `from` itself.
    pub(super) fn moved(&self, from: u32, to_type: u32, shift: Shift) -> Option<u32> {
        let local = (from - self.start(self.type_of(from))) as usize;
        let point = self.points[local % self.points.len()];
        let mut cell = 0;
        for axis in 0..3 {
            let x = i32::from(point[axis]) + shift[axis];
            if !(0..self.side).contains(&x) {
                return None;
            }
            cell = cell * self.side + x;
        }
        let to = self.start(to_type) + self.residents[cell as usize];
        (to != from).then_some(to)
    }

    /// The name of an entity, which contains its type as names of NELL do.
    pub(super) fn name(&self, entity: u32) -> EntityName {
        EntityName { of_type: self.type_of(entity), entity }
    }

    fn start(&self, of_type: u32) -> u32 {
        (u64::from(of_type) * self.entities / self.types) as u32
    }
}

/// Writes itself as `concept:type7:e123`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntityName {
    of_type: u32,
    entity: u32,
}

impl fmt::Display for EntityName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "concept:type{}:e{}", self.of_type, self.entity)
    }
}

/// A hash of 64 bits to 64 bits (the finaliser of SplitMix64).
pub(super) fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

pub(super) fn add(a: Shift, b: Shift) -> Shift {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

pub(super) fn negate(shift: Shift) -> Shift {
    shift.map(|x| -x)
}

fn point_of(cell: u32, side: i32) -> Shift {
    let cell = cell as i32;
    [cell / (side * side), cell / side % side, cell % side]
}

/// Which shell around the centre of the box a point lies on.
fn eccentricity(point: Shift, side: i32) -> i32 {
    point.map(|x| (2 * x - (side - 1)).abs()).into_iter().fold(0, i32::max)
}

fn cube_root(n: u64) -> i32 {
    (1..).take_while(|&side: &i32| (side as u64).pow(3) <= n).last().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space::new(&SynthSettings { entities: 2_003, types: 7, ..SynthSettings::like("small").unwrap() })
    }

    #[test]
    fn every_entity_has_one_type() {
        let space = space();
        let ids: Vec<u32> = (0..7).flat_map(|of_type| space.members(of_type)).collect();
        assert_eq!(ids, (0..2_003).collect::<Vec<_>>());
        for of_type in 0..7 {
            assert!(space.members(of_type).all(|entity| space.type_of(entity) == of_type));
        }
    }

    #[test]
    fn a_move_and_its_reverse_meet() {
        let space = space();
        assert_eq!(space.side, 6);
        let mut met = 0;
        // The first 216 of the 286 entities of a type are the first residents of their points.
        for from in space.members(2).take(216) {
            if let Some(to) = space.moved(from, 4, [1, 0, -2]) {
                assert_eq!(space.moved(to, 2, [-1, 0, 2]), Some(from));
                met += 1;
            }
        }
        assert_eq!(met, 5 * 6 * 4);
        assert_eq!(space.moved(space.members(2).start, 2, [0, 0, 0]), None);
    }

    #[test]
    fn cube_roots_round_down() {
        assert_eq!([1, 7, 8, 26, 27, 75_597].map(cube_root), [1, 1, 2, 2, 3, 42]);
    }
}
