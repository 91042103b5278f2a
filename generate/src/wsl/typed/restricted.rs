//! The restrictions of programs that are to be executed.
//!
//! A restriction leaves out constructs whose execution shows nothing, or cannot be compared with
//! another execution: an endless loop, a race, a barrier that some threads do not reach. Constructs
//! that are undefined or unspecified for one thread alone stay: variables without initialiser,
//! indices out of bounds, division by zero, overflow, large shifts.

use super::statements::{NOTHING, Statement};
use super::{Expression, Flavour, Generator, Kind, Level, Variable};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};

/// The version of [`executed`], and of the resources for its programs. Another version may make
/// another program of the same seed.
pub const VERSION: u32 = 4;

/// The most words of a value type.
const MAX_WORDS: u64 = 512;
/// The most threads of a group.
const MAX_THREADS: u32 = 64;
/// The most iterations of a loop, each time control enters its block.
const MAX_ITERATIONS: usize = 3;

/// The use of a generated program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// It is only validated. Nothing is restricted.
    Validation,
    /// Its functions are called. At least one takes values and returns a value. There are no
    /// entry points.
    Functions,
    /// Its compute entry points are dispatched. Each has a buffer that it stores in.
    Compute,
    /// Its fragment entry points are drawn. The first entry point is one, and has a target.
    Draws,
}

/// A restriction of an executed program or of its resources.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Restriction {
    /// A counter ends each loop.
    Loops,
    /// Large types are replaced by scalars.
    Sizes,
    /// Elements of buffers take at least one word.
    Elements,
    /// Stage variables without floats are not interpolated.
    Flat,
    /// Functions for a stage that does not run become functions for every stage.
    Stages,
    /// Groups with many threads are made smaller.
    Threads,
    /// There is one thread, which may do anything.
    Alone,
    /// There are several threads. In device memory each stores only in elements of its own. It
    /// stores in no texture and in no threadgroup memory. There are no atomics and no barriers.
    Shared,
    /// If a texture of integers is sampled, no sampler clamps to its border, except for one seed in
    /// eight. This restricts the resources, not the program.
    Borders,
    /// If textures of integers and of floats are sampled, no sampler filters linearly, except for
    /// one seed in eight. This restricts the resources too.
    Filters,
}

impl Restriction {
    /// The description of the restriction in reports.
    pub fn name(self) -> &'static str {
        match self {
            Restriction::Loops => "each loop has a counter that ends it",
            Restriction::Sizes => "no type is larger than 512 words",
            Restriction::Elements => "no element of a buffer takes no memory",
            Restriction::Flat => "no stage variable without floats is interpolated",
            Restriction::Stages => "no function is for a stage that does not run",
            Restriction::Threads => "no group has more than 64 threads",
            Restriction::Alone => "one thread runs alone",
            Restriction::Shared => "threads store in nothing that they share",
            Restriction::Borders => "no sampler beside a texture of integers clamps to its border",
            Restriction::Filters => "no sampler beside textures of integers and of floats filters linearly",
        }
    }
}

/// A program that is to be executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed {
    /// Its text.
    pub text: String,
    /// The restrictions that changed this program.
    pub restricted: Vec<Restriction>,
}

/// The program of a seed for a purpose.
pub fn executed(seed: u64, purpose: Purpose) -> Executed {
    generated(seed, purpose, |_| {})
}

/// A program like that of [`executed`], with about 30 statements.
pub fn short(seed: u64, purpose: Purpose) -> Executed {
    generated(seed, purpose, |g| g.short = true)
}

/// A program like that of [`executed`]. Each entry point has one or two textures and calls their
/// functions often.
pub fn textured(seed: u64, purpose: Purpose) -> Executed {
    generated(seed, purpose, |g| g.textured = true)
}

fn generated(seed: u64, purpose: Purpose, adjust: fn(&mut Generator)) -> Executed {
    let mut g = Generator::new(seed, None, purpose);
    adjust(&mut g);
    match purpose {
        Purpose::Compute if g.one_in(2) => _ = g.restricted.insert(Restriction::Alone),
        Purpose::Compute | Purpose::Draws => {
            g.has_several_threads = true;
            g.restricted.insert(Restriction::Shared);
        }
        Purpose::Validation | Purpose::Functions => {}
    }
    g.declarations();
    Executed { text: g.decls.join("\n"), restricted: g.restricted.into_iter().collect() }
}

impl Generator {
    /// Whether a value type has too many words.
    pub(super) fn is_too_large(&mut self, ty: TypeId) -> bool {
        let is_large = self.purpose != Purpose::Validation && self.words(ty) > MAX_WORDS;
        if is_large {
            self.restricted.insert(Restriction::Sizes);
        }
        is_large
    }

    /// Whether buffers with elements of that type cannot be bound, because the elements take
    /// no memory.
    pub(super) fn is_unbound(&mut self, ty: TypeId) -> bool {
        let is_empty = self.purpose != Purpose::Validation && self.words(ty) == 0;
        if is_empty {
            self.restricted.insert(Restriction::Elements);
        }
        is_empty
    }

    /// Whether a stage variable of that type can be drawn only if it is not interpolated.
    pub(super) fn is_flat(&mut self, ty: TypeId) -> bool {
        let is_float =
            matches!(self.ty(ty), Type::Scalar(Scalar::Float) | Type::Vector(Scalar::Float, _) | Type::Matrix(Scalar::Float, ..));
        let is_flat = self.purpose == Purpose::Draws && !is_float;
        if is_flat {
            self.restricted.insert(Restriction::Flat);
        }
        is_flat
    }

    /// A vector or matrix whose elements are made one by one, in places where the smallest
    /// expression would be zeros.
    pub(super) fn vector_of_elements(&mut self, ty: TypeId) -> Option<Expression> {
        if self.purpose == Purpose::Validation || self.one_in(4) {
            return None;
        }
        let (element, count) = match self.ty(ty) {
            Type::Vector(scalar, n) => (TypeId::scalar(scalar), n),
            Type::Matrix(scalar, columns, rows) => (TypeId::vector(scalar, rows), columns),
            _ => return None,
        };
        let elements: Vec<String> = (0..count).map(|_| self.basic(element).at(Level::Ternary)).collect();
        let name = self.call_name(ty)?;
        Some(Expression::new(format!("{name}({})", elements.join(", ")), Level::Call, Kind::Right, ty))
    }

    /// An estimate of the words of a value.
    fn words(&self, ty: TypeId) -> u64 {
        let vector = |n: u8| u64::from(n).next_power_of_two();
        match self.ty(ty) {
            Type::Vector(_, n) => vector(n),
            Type::Matrix(_, columns, rows) => u64::from(columns) * vector(rows),
            Type::Array(element, n) => u64::from(n).saturating_mul(self.words(element)),
            Type::Struct(s) => self.structs[s.0 as usize].fields.iter().fold(0u64, |n, field| n.saturating_add(self.words(field.1))),
            _ => 1,
        }
    }

    /// The flavour of a function: the drawn flavour, or [`Flavour::Any`] if that is for a stage
    /// that does not run.
    pub(super) fn flavour_of_purpose(&mut self, drawn: Flavour) -> Flavour {
        let stage_runs = match (self.purpose, drawn) {
            (Purpose::Functions | Purpose::Compute, Flavour::Fragment) | (Purpose::Draws, Flavour::Compute) => false,
            (_, Flavour::Any | Flavour::Fragment | Flavour::Compute) => true,
        };
        if stage_runs {
            return drawn;
        }
        self.restricted.insert(Restriction::Stages);
        Flavour::Any
    }

    /// A value type of at least one word, so that its values show something.
    pub(super) fn nonempty_type(&mut self) -> TypeId {
        let ty = self.value_type(2);
        if self.words(ty) == 0 { self.scalar() } else { ty }
    }

    /// Adds a function that calls another function with pointers to its own parameters, and returns
    /// the value of the last of them. No other code passes pointers to a function. Functions
    /// without pointer parameters get no caller.
    pub(super) fn pointer_caller(&mut self, function: usize) {
        let called = self.functions[function].clone();
        let (mut parameters, mut arguments, mut returned) = (Vec::new(), Vec::new(), None);
        for (i, &ty) in called.parameters.iter().enumerate() {
            let (pointee, sign) = match self.ty(ty) {
                Type::Pointer(AddressSpace::Thread, to) => (to, "&"),
                Type::ArrayReference(AddressSpace::Thread, element) => (self.array(element, 3), "@"),
                _ => (ty, ""),
            };
            if self.is_reference(pointee) || self.is_opaque(pointee) {
                return;
            }
            if !sign.is_empty() {
                returned = Some((i, pointee));
            }
            parameters.push(format!("{} p{i}", self.type_text(pointee)));
            arguments.push(format!("{sign}p{i}"));
        }
        let Some((returned, result)) = returned else { return };
        let (written, name) = (self.type_text(result), self.fresh("g"));
        let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
        self.decls.push(format!("{written} {name}({parameters}) {{ {}({arguments}); return p{returned}; }}", called.name));
    }

    /// The number of entry points.
    pub(super) fn entry_points(&mut self) -> usize {
        match self.purpose {
            Purpose::Validation => self.below(3),
            Purpose::Functions => 0,
            Purpose::Compute | Purpose::Draws if self.short => 1,
            Purpose::Compute | Purpose::Draws => 1 + self.below(2),
        }
    }

    /// The stage of an entry point: 0 vertex, 1 fragment, 2 compute.
    pub(super) fn stage_of_purpose(&mut self, is_first: bool) -> usize {
        match self.purpose {
            Purpose::Validation | Purpose::Functions => self.below(3),
            Purpose::Compute => 2,
            Purpose::Draws if is_first => 1,
            Purpose::Draws => self.below(2),
        }
    }

    /// The number of targets of a fragment entry point.
    pub(super) fn targets(&mut self) -> usize {
        if self.purpose == Purpose::Draws { 1 + self.below(2) } else { self.below(3) }
    }

    /// The attribute for the threads of a group, and their number.
    pub(super) fn numthreads(&mut self) -> (String, u32) {
        const SIDES: [(&str, u32); 5] = [("1", 1), ("8", 8), ("64u", 64), ("0x2", 2), ("3", 3)];
        let mut sides: [(&str, u32); 3] = std::array::from_fn(|_| self.pick(&SIDES));
        if self.purpose != Purpose::Validation && !self.has_several_threads {
            sides = std::array::from_fn(|_| (self.pick(&["1", "1u", "0x1"]), 1));
        }
        let product = |sides: &[(&str, u32); 3]| sides.iter().map(|side| side.1).product::<u32>();
        while self.purpose != Purpose::Validation && product(&sides) > MAX_THREADS {
            self.restricted.insert(Restriction::Threads);
            if let Some(largest) = sides.iter_mut().max_by_key(|side| side.1) {
                *largest = SIDES[0];
            }
        }
        let [x, y, z] = sides.map(|side| side.0);
        (format!("[numthreads({x}, {y}, {z})]"), product(&sides))
    }

    /// The arguments of a compute entry point for a buffer in which each thread has an element of
    /// its own, with the arguments for its index. A single thread has the whole buffer.
    pub(super) fn own_buffer(&mut self, threads: u32, variables: &mut Vec<Variable>) -> Option<String> {
        if self.purpose == Purpose::Validation {
            return None;
        }
        let mut ty = self.value_type(1);
        if !self.is_slice_element(ty) || self.is_unbound(ty) {
            ty = self.pick(&[TypeId::FLOAT, TypeId::UINT, TypeId::INT, TypeId::vector(Scalar::Float, 4)]);
        }
        let reference = self.reference_to(AddressSpace::Device, ty);
        let (written, name) = (self.type_text(reference), self.fresh("o"));
        let buffer_parameters = format!("{written} {name} : register(u9)");
        if !self.has_several_threads {
            self.own_element = Some((format!("{name}[1]"), ty));
            variables.push(Variable { name: name.into(), ty: reference, space: AddressSpace::Thread });
            return Some(buffer_parameters);
        }
        // No expression uses these variables, so nothing assigns to them.
        let (lane, group) = (self.fresh("l"), self.fresh("k"));
        self.own_element = Some((format!("{name}[{group}.x * {threads}u + {lane}]"), ty));
        Some(format!("{buffer_parameters}, uint {lane} : SV_GroupIndex, uint3 {group} : SV_GroupID"))
    }

    /// Perhaps a store in the thread's own element.
    pub(super) fn own_store(&mut self) -> Option<String> {
        if self.own_element.is_none() || !self.one_in(3) {
            return None;
        }
        let text = self.attempt(Generator::store_in_own_element)?;
        self.has_stored = true;
        Some(text)
    }

    /// The last statement of an entry point that has an own element and has not stored in it.
    pub(super) fn last_store(&mut self) -> Option<Statement> {
        if self.has_stored {
            return None;
        }
        let (place, ty) = self.own_element.clone()?;
        let value = self.attempt(|g| g.expected(ty, 2))?;
        Some(Statement::new(format!("{place} = {};", value.at(Level::Ternary)), NOTHING))
    }

    fn store_in_own_element(&mut self) -> Option<String> {
        let (place, ty) = self.own_element.clone()?;
        let mut signs = self.compounds(ty);
        // After most divisions an element may have any value.
        if !self.one_in(4) {
            signs.retain(|(sign, _)| !matches!(sign.as_str(), "/" | "%"));
        }
        if !signs.is_empty() && self.one_in(3) {
            let (sign, second) = self.pick(&signs);
            let value = self.value(second, 2)?;
            return Some(format!("{place} {sign}= {}", value.at(Level::Ternary)));
        }
        let value = self.expected(ty, 2)?;
        Some(format!("{place} = {}", value.at(Level::Ternary)))
    }

    /// Whether the program may store in variables of that space.
    pub(super) fn stores_in(&self, space: AddressSpace) -> bool {
        match space {
            AddressSpace::Constant => false,
            AddressSpace::Thread => true,
            AddressSpace::Device | AddressSpace::Threadgroup => !self.has_several_threads,
        }
    }

    /// Whether the library's functions may get pointers to that space. They store through these.
    pub(super) fn library_takes(&self, space: AddressSpace) -> bool {
        space == AddressSpace::Constant || self.stores_in(space)
    }

    /// Whether a library function affects only its own thread: it is no barrier, and it stores in
    /// no texture.
    pub(super) fn is_for_one_thread(&self, name: &str) -> bool {
        name != "Store" && !name.contains("Barrier")
    }

    /// The condition of a loop with a counter added.
    pub(super) fn with_counter(&mut self, condition: Expression) -> Expression {
        let Some(count) = self.counter() else { return condition };
        let text = match self.one_in(2) {
            true => format!("{count} && {}", condition.at(Level::BitOr)),
            false => format!("{} && {count}", condition.at(Level::And)),
        };
        Expression::new(text, Level::And, Kind::Right, TypeId::BOOL)
    }

    /// The condition of a loop without one: nothing, or a counter.
    pub(super) fn counter_only(&mut self) -> String {
        self.counter().unwrap_or_default()
    }

    /// The condition that a counter has not reached its end. No other code changes the counter. It
    /// is declared before the current statement.
    fn counter(&mut self) -> Option<String> {
        if self.purpose == Purpose::Validation {
            return None;
        }
        let at = self.frames.iter().rposition(|f| f.pending.is_some())?;
        let (name, limit) = (self.fresh("c"), 1 + self.below(MAX_ITERATIONS));
        self.frames[at].pending.as_mut()?.push(format!("uint {name} = 0;"));
        self.restricted.insert(Restriction::Loops);
        Some(format!("{name}++ < {limit}u"))
    }
}
