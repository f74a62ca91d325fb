//! A walk over a program's layers.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use zeroize::{Zeroize, Zeroizing};

use super::{
    Layers, UNUSED,
    class::Class,
    sources::{INPUT, Origin},
};
use crate::schedule::Operand;

/// The state of a walk: the values on all wires that will still be read. A value is that of a wire without its negations.
pub struct LayerWalk<'a, V: Zeroize> {
    layers: &'a Layers,
    inputs: Zeroizing<Vec<V>>,
    /// Slots of all instances that have begun and not ended.
    slots: Zeroizing<Vec<V>>,
    /// The state of every instance.
    seats: Vec<Seat>,
    /// The first slots of places that are free, by their length.
    free: HashMap<u32, Vec<usize>>,
    /// Instances, each with the number of its next event, by depth.
    waiting: BTreeMap<u64, Vec<(u32, u32)>>,
    /// The events of this layer.
    now: Vec<(u32, u32)>,
}

/// The state of an instance.
#[derive(Clone, Copy)]
struct Seat {
    /// Its first slot.
    start: usize,
    /// The wires that others will read.
    readers: u32,
    /// Set when all its gates are computed: it has slots for its outputs alone.
    has_ended: bool,
}

/// The place of a gate: an instance, its class, and the gate's number among the XOR or the AND gates of the class.
#[derive(Clone, Copy)]
pub struct GatePlace {
    /// The instance.
    pub(super) instance: u32,
    /// Its class.
    pub(super) class: u32,
    /// The gate.
    pub(super) gate: u32,
}

/// An output of a program at the end of a walk.
#[derive(Clone, Copy)]
pub enum Carried<V> {
    /// A value, and whether it is negated.
    Wire(V, bool),
    /// A constant.
    Constant(bool),
}

impl<'a, V: Copy + Default + Zeroize> LayerWalk<'a, V> {
    /// Begins a walk with the values of all inputs, one after another.
    ///
    /// # Panics
    /// If the values are not as many as the program's input bits.
    pub fn new(layers: &'a Layers, inputs: Vec<V>) -> Self {
        assert_eq!(inputs.len(), layers.input_bits, "a value for every input bit");
        let mut waiting: BTreeMap<u64, Vec<(u32, u32)>> = BTreeMap::new();
        for (instance, place) in (0..).zip(&layers.places).filter(|(_, place)| place.class != UNUSED) {
            // A class without gates, which only passes wires on, has no event.
            if let Some(first) = layers.classes[place.class as usize].events.first() {
                waiting.entry(layers.far(place.shifts, first.depth)).or_default().push((instance, 0));
            }
        }
        LayerWalk {
            layers,
            inputs: Zeroizing::new(inputs),
            // As many as the walk needs, so that no value stays behind where the slots have been.
            slots: Zeroizing::new(Vec::with_capacity(layers.slot_count)),
            seats: layers
                .places
                .iter()
                .map(|place| Seat { start: 0, readers: place.readers, has_ended: false })
                .collect(),
            free: HashMap::new(),
            waiting,
            now: Vec::new(),
        }
    }

    /// Computes XOR gates up to the next layer of AND gates, and gives the operands of these in order, each with whether it is negated. Returns `false`
    /// after the last layer; after any other comes [`LayerWalk::finish_layer`].
    pub fn next_layer(
        &mut self,
        mut xor: impl FnMut(V, V, GatePlace) -> V,
        mut and: impl FnMut((V, bool), (V, bool), GatePlace),
    ) -> bool {
        while let Some((_, mut now)) = self.waiting.pop_first() {
            now.sort_unstable();
            let mut has_ands = false;
            for &(instance, number) in &now {
                has_ands |= self.event(instance, number, &mut xor, &mut and);
            }
            self.now = now;
            if has_ands {
                return true;
            }
            self.finish_layer(V::default);
        }
        false
    }

    /// Computes the XOR gates of an event, and gives the operands of its AND gates. Returns whether there are any.
    fn event(
        &mut self,
        instance: u32,
        number: u32,
        xor: &mut impl FnMut(V, V, GatePlace) -> V,
        and: &mut impl FnMut((V, bool), (V, bool), GatePlace),
    ) -> bool {
        let class_number = self.layers.places[instance as usize].class;
        let class = &self.layers.classes[class_number as usize];
        let (event, before) = class.event(number);
        if number == 0 {
            self.seats[instance as usize].start = self.take_slots(class.slot_count);
        }
        self.take_inputs(instance, class, before.inputs_end as usize..event.inputs_end as usize);
        let start = self.seats[instance as usize].start;
        let slots = &mut self.slots[start..start + class.slot_count as usize];
        let place = |gate| GatePlace { instance, class: class_number, gate };
        for gate in before.xors_end..event.xors_end {
            let op = class.xors[gate as usize];
            slots[op.out as usize] = xor(slots[op.a as usize], slots[op.b as usize], place(gate));
        }
        for gate in before.ands_end..event.ands_end {
            let op = class.ands[gate as usize];
            let read = |operand: Operand| (slots[operand.slot()], operand.inverted());
            and(read(op.a), read(op.b), place(gate));
        }
        before.ands_end < event.ands_end
    }

    /// Sets the results of the layer's AND gates, in order.
    pub fn finish_layer(&mut self, mut result: impl FnMut() -> V) {
        for (instance, number) in std::mem::take(&mut self.now) {
            let place = self.layers.places[instance as usize];
            let class = &self.layers.classes[place.class as usize];
            let (event, before) = class.event(number);
            let start = self.seats[instance as usize].start;
            for op in &class.ands[before.ands_end as usize..event.ands_end as usize] {
                self.slots[start + op.out as usize] = result();
            }
            match class.events.get(number as usize + 1) {
                Some(next) => {
                    let depth = self.layers.far(place.shifts, next.depth);
                    self.waiting.entry(depth).or_default().push((instance, number + 1));
                }
                None => self.end(instance, class),
            }
        }
    }

    /// Keeps an instance's outputs alone, or nothing if all readers have been there.
    fn end(&mut self, instance: u32, class: &Class) {
        let Seat { start: begin, readers, .. } = self.seats[instance as usize];
        if readers > 0 {
            let start = self.take_slots(class.kept.len() as u32);
            for (to, from) in (start..).zip(&class.kept) {
                self.slots[to] = self.slots[begin + *from as usize];
            }
            self.seats[instance as usize] = Seat { start, readers, has_ended: true };
        }
        self.free.entry(class.slot_count).or_default().push(begin);
    }

    /// The program's outputs, one wire after another, once no layer is left.
    pub fn outputs(&self) -> impl Iterator<Item = Carried<V>> + '_ {
        let outputs = self.layers.outputs.iter().enumerate();
        outputs.map(|(at, literal)| match self.layers.sources.get(self.seats.len(), at as u32) {
            Some(origin) => Carried::Wire(self.value(origin), literal.inverted()),
            None => Carried::Constant(literal.inverted()),
        })
    }

    /// The slots so far.
    pub(super) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    fn value(&self, Origin { instance, wire }: Origin) -> V {
        if instance == INPUT {
            return self.inputs[wire as usize];
        }
        let Seat { start, has_ended, .. } = self.seats[instance as usize];
        let slot = if has_ended { wire } else { self.class(instance).kept[wire as usize] };
        self.slots[start + slot as usize]
    }

    fn class(&self, instance: u32) -> &'a Class {
        &self.layers.classes[self.layers.places[instance as usize].class as usize]
    }

    fn take_slots(&mut self, count: u32) -> usize {
        self.free.get_mut(&count).and_then(Vec::pop).unwrap_or_else(|| {
            let start = self.slots.len();
            self.slots.resize(start + count as usize, V::default());
            start
        })
    }

    /// Copies these of a class's inputs from where they are.
    fn take_inputs(&mut self, instance: u32, class: &Class, which: Range<usize>) {
        let (layers, start) = (self.layers, self.seats[instance as usize].start + which.start);
        layers.sources.for_each(instance, &class.inputs[which], |at, origin| {
            self.slots[start + at] = self.value(origin);
            if origin.instance != INPUT {
                self.read(origin.instance);
            }
        });
    }

    /// Frees an instance's slots after its last reader.
    fn read(&mut self, instance: u32) {
        let seat = &mut self.seats[instance as usize];
        seat.readers -= 1;
        if seat.readers == 0 && seat.has_ended {
            let start = seat.start;
            self.free.entry(self.class(instance).kept.len() as u32).or_default().push(start);
        }
    }
}
