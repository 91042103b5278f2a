//! Twins: clean programs with exactly one planted defect, and the report that is expected of them.
//!
//! A defect is a statement, [`Stmt::Plant`]. It stands where at least one invocation is certain to
//! run it: in the entry point, in the first iteration of a loop, or in a function that is certainly
//! called. No statement that might leave comes before it. An undefined value is made to reach
//! control flow, an address, a divisor or the output.

use super::tree::*;
use crate::random::Random;

/// The kinds of defects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Undefined behaviour: it ends the run.
    Behaviour,
    /// An undefined value. It is reported where it reaches one of [`Reach`].
    Value,
    /// The module is refused before anything runs.
    Refused,
}

macro_rules! defects {
    ($($defect:ident $kind:ident $id:literal $what:literal;)*) => {
        /// A defect that can be planted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Defect {
            $(
                #[doc = $what]
                $defect,
            )*
        }

        impl Defect {
            /// Every defect.
            pub const ALL: &'static [Defect] = &[$(Defect::$defect,)*];

            /// The defect's id in the registry of undefined behaviour and undefined values.
            pub fn id(self) -> &'static str {
                match self {
                    $(Defect::$defect => $id,)*
                }
            }

            /// Its kind.
            pub fn kind(self) -> Kind {
                match self {
                    $(Defect::$defect => Kind::$kind,)*
                }
            }

            /// A description of the defect in a few words.
            pub fn what(self) -> &'static str {
                match self {
                    $(Defect::$defect => $what,)*
                }
            }
        }
    };
}

defects! {
    UDivZero Behaviour "spirv/division-by-zero" "OpUDiv by zero";
    SDivZero Behaviour "spirv/division-by-zero" "OpSDiv by zero";
    UModZero Behaviour "spirv/division-by-zero" "OpUMod by zero";
    SRemZero Behaviour "spirv/division-by-zero" "OpSRem by zero";
    SModZero Behaviour "spirv/division-by-zero" "OpSMod by zero";
    VectorDivZero Behaviour "spirv/division-by-zero" "OpUDiv of vectors whose divisor has one zero";
    SDivOverflow Behaviour "spirv/division-overflow" "OpSDiv of the least integer by -1";
    FloatToSigned Behaviour "spirv/conversion-range" "OpConvertFToS of a float beyond the range";
    FloatToUnsigned Behaviour "spirv/conversion-range" "OpConvertFToU of -1.5";
    Wrap Behaviour "spirv/wrap" "OpIAdd decorated NoUnsignedWrap that wraps";
    ChainArray Behaviour "spirv/access-out-of-bounds" "an access chain beyond an array, never used";
    ChainVector Behaviour "spirv/access-out-of-bounds" "an access chain beyond a vector in an array, never used";
    ChainBuffer Behaviour "spirv/access-out-of-bounds" "an access chain beyond the input buffer";
    Unreachable Behaviour "spirv/unreachable" "OpUnreachable";
    DivergentBarrier Behaviour "spirv/divergent-barrier" "OpControlBarrier that one invocation of a workgroup reaches";
    RaceWithoutBarrier Behaviour "spirv/data-race" "an element of a shared array read without a barrier after its store";
    RaceWithoutSemantics Behaviour "spirv/data-race" "the same with a barrier that has no semantics";
    RaceOfStores Behaviour "spirv/data-race" "stores of several invocations to one word of a buffer";
    RaceWithAtomic Behaviour "spirv/data-race" "a store to a word of a buffer beside atomic additions of others";
    Undef Value "spirv/undef" "OpUndef";
    UndefComponent Value "spirv/undef" "a component that is left of an OpUndef after insertion of others";
    UninitialisedFunction Value "spirv/uninitialised" "a load of a Function variable that nothing wrote";
    UninitialisedPrivate Value "spirv/uninitialised" "a load of a Private variable that nothing wrote";
    UninitialisedWorkgroup Value "spirv/uninitialised" "a load of a Workgroup variable that nothing wrote";
    ShiftLeft Value "spirv/shift-width" "OpShiftLeftLogical by 32 or more";
    ShiftRight Value "spirv/shift-width" "OpShiftRightLogical by 32 or more";
    ShiftArithmetic Value "spirv/shift-width" "OpShiftRightArithmetic by 32 or more";
    FieldInsert Value "spirv/bit-field-range" "OpBitFieldInsert beyond the last bit";
    FieldSigned Value "spirv/bit-field-range" "OpBitFieldSExtract beyond the last bit";
    FieldUnsigned Value "spirv/bit-field-range" "OpBitFieldUExtract beyond the last bit";
    RemainderNegative Value "spirv/negative-remainder" "OpSRem of a negative number";
    ModuloNegative Value "spirv/negative-remainder" "OpSMod by a negative number";
    ExtractIndex Value "spirv/vector-index" "OpVectorExtractDynamic beyond the vector";
    InsertIndex Value "spirv/vector-index" "OpVectorInsertDynamic beyond the vector";
    Shuffle Value "spirv/shuffle-undefined" "a component of OpVectorShuffle without a source";
    ClampBounds Value "spirv/clamp-bounds" "UClamp whose least is above its greatest";
    SqrtNegative Value "spirv/function-domain" "Sqrt of a negative number";
    StoreReadOnly Refused "spirv/store-non-writable" "a store to the input buffer";
    MemberIndex Refused "spirv/member-index" "an access chain to a member that a structure does not have";
    Recursion Refused "spirv/recursion" "a function that calls itself";
}

/// The consumer of a planted undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// A store to the output buffer. The observation is "any value".
    Output,
    /// The condition of OpBranchConditional.
    Branch,
    /// The selector of OpSwitch.
    Switch,
    /// An index of OpAccessChain.
    Address,
    /// The divisor of OpUDiv.
    Divisor,
}

impl Reach {
    /// All consumers.
    pub const ALL: &'static [Reach] = &[Reach::Output, Reach::Branch, Reach::Switch, Reach::Address, Reach::Divisor];

    /// The id of the undefined behaviour that is reported there. `None` for an observation.
    pub fn id(self) -> Option<&'static str> {
        match self {
            Reach::Output => None,
            Reach::Branch | Reach::Switch => Some("spirv/branch-on-undefined"),
            Reach::Address => Some("spirv/address-on-undefined"),
            Reach::Divisor => Some("spirv/undefined-operand"),
        }
    }
}

impl Defect {
    /// Whether `spirv-val` accepts a module with this defect.
    pub fn valid(self) -> bool {
        !matches!(self, Defect::MemberIndex | Defect::Recursion)
    }

    /// Whether it needs control flow that is uniform in the workgroup.
    fn needs_uniform_control(self) -> bool {
        matches!(self, Defect::RaceWithoutBarrier | Defect::RaceWithoutSemantics)
    }

    /// Whether it needs several invocations in a workgroup.
    pub(super) fn needs_several_invocations(self) -> bool {
        matches!(
            self,
            Defect::DivergentBarrier
                | Defect::RaceWithoutBarrier
                | Defect::RaceWithoutSemantics
                | Defect::RaceOfStores
                | Defect::RaceWithAtomic
        )
    }
}

/// A defect, as a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plant {
    /// The defect.
    pub defect: Defect,
    /// The only invocation of each workgroup that runs it, modulo the size of the workgroup. `None`
    /// for all invocations. It has no meaning if several invocations must take part.
    pub only: Option<u32>,
    /// The consumer of the undefined value.
    pub reach: Reach,
    /// An operand, a 32-bit unsigned integer of any value.
    pub value: Expr,
}

impl Plant {
    /// Whether the output buffer has one more word for each invocation. Only the plant writes
    /// that word.
    pub fn needs_word(&self) -> bool {
        let race = matches!(self.defect, Defect::RaceOfStores | Defect::RaceWithAtomic);
        race || (self.defect.kind() == Kind::Value && self.reach == Reach::Output)
    }
}

/// The expected report of a twin. Instructions are counted from 0, starting after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// The planted defect.
    pub defect: Defect,
    /// The registry id of the planted instruction's undefined behaviour or value, such
    /// as `spirv/shift-width`.
    pub id: &'static str,
    /// The kind of the defect.
    pub kind: Kind,
    /// The index of the planted instruction.
    pub instruction: usize,
    /// Its result id, or 0.
    pub result: u32,
    /// The indices of other instructions that may be reported instead: the other access of a race,
    /// the load through a pointer, other barriers.
    pub also: Vec<usize>,
    /// The consumer of an undefined value, if the defect is one.
    pub reached: Option<Reached>,
    /// Whether `spirv-val` accepts the module.
    pub valid: bool,
}

/// The consumer of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The kind of consumer.
    pub reach: Reach,
    /// The index of the consuming instruction.
    pub instruction: usize,
    /// The id of the undefined behaviour that is reported there. `None` for an observation, which
    /// is "any value".
    pub id: Option<&'static str>,
    /// For an observation: the first word of the output buffer that may hold the value. It is the
    /// last word of an invocation's part.
    pub word: Option<u32>,
}

/// A place for a plant: the number of a list of statements, in the order of [`Module::each_block`],
/// and the position in that list.
#[derive(Clone, Copy, Debug)]
struct Spot {
    block: usize,
    at: usize,
    in_main: bool,
    at_top: bool,
}

/// The twin with this defect, planted at a random suitable place. `None` if the module has no such
/// place, too few invocations, or too old a version.
pub fn twin(module: &Module, defect: Defect, random: &mut Random) -> Option<Module> {
    // The decorations against wrapping are part of SPIR-V since 1.4.
    if (defect.needs_several_invocations() && module.local_count() < 2) || (defect == Defect::Wrap && module.minor < 4) {
        return None;
    }
    let reach = random.pick(Reach::ALL);
    let observed = reach == Reach::Output && defect.kind() == Kind::Value;
    let mut spots = sure_spots(module);
    spots.retain(|spot| (!defect.needs_uniform_control() || spot.at_top) && (!observed || spot.in_main));
    if spots.is_empty() {
        return None;
    }
    // Half of the plants stand inside of other constructs, if there are such places.
    let nested: Vec<Spot> = spots.iter().copied().filter(|spot| !spot.at_top).collect();
    let spot = if !nested.is_empty() && random.percent(50) { random.pick(&nested) } else { random.pick(&spots) };
    let value = match random.below(3) {
        0 => Expr::uint(random.bits() as u32),
        1 => Expr::new(Type::UINT, Op::Builtin(Builtin::LocalIndex), Vec::new()),
        _ => Expr::new(Type::UINT, Op::Input, vec![Expr::uint(random.below(64))]),
    };
    let only = random.percent(40).then(|| random.below(1 << 10));
    let plant = Stmt::Plant(Box::new(Plant { defect, only, reach, value }));
    let mut twin = module.clone();
    let mut block = 0;
    twin.each_block(&mut |statements| {
        if block == spot.block {
            statements.insert(spot.at, plant.clone());
        }
        block += 1;
    });
    Some(twin)
}

/// The places that at least one invocation is certain to run. If `at_top` is set, all invocations
/// run the place together.
fn sure_spots(module: &Module) -> Vec<Spot> {
    // Callers stand after their callees. It is known whether a function is certainly called once
    // all its callers are seen.
    let functions = module.functions.len();
    let mut called = vec![false; functions];
    let mut spots = Vec::new();
    for index in (0..=functions).rev() {
        let in_main = index == functions;
        if !in_main && !called[index] {
            continue;
        }
        let before: usize = module.functions[..index].iter().map(|f| blocks(&f.body)).sum();
        let function = if in_main { &module.main } else { &module.functions[index] };
        let mut search = Search { spots: &mut spots, called: &mut called, in_main };
        let ends = search.block(&function.body, before, true);
        if let (true, Some(result)) = (ends, &function.result) {
            search.calls(result);
        }
    }
    spots
}

/// The number of lists of statements, this list included.
fn blocks(block: &[Stmt]) -> usize {
    1 + block.iter().flat_map(inner).map(|inner| blocks(inner)).sum::<usize>()
}

/// A statement's own lists of statements, in the order of [`Stmt::each_block`].
fn inner(stmt: &Stmt) -> Vec<&Vec<Stmt>> {
    match stmt {
        Stmt::If(_, arms, _) => arms.iter().map(|arm| &arm.body).collect(),
        Stmt::Switch(_, cases, default, _) => cases.iter().map(|case| &case.arm.body).chain([&default.body]).collect(),
        Stmt::Loop(l) => vec![&l.body],
        _ => Vec::new(),
    }
}

/// Whether a statement may leave its list early: it jumps, returns or is a defect.
fn may_leave(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Exit(..) | Stmt::Return(_) | Stmt::Plant(_)) || inner(stmt).into_iter().flatten().any(may_leave)
}

struct Search<'a> {
    spots: &'a mut Vec<Spot>,
    called: &'a mut [bool],
    in_main: bool,
}

impl Search<'_> {
    /// Adds the places of a list that certainly runs. Returns whether its end is certainly reached.
    fn block(&mut self, block: &[Stmt], number: usize, at_top: bool) -> bool {
        let spot = |at: usize, in_main: bool| Spot { block: number, at, in_main, at_top: at_top && in_main };
        let mut next = number + 1;
        for (at, stmt) in block.iter().enumerate() {
            self.spots.push(spot(at, self.in_main));
            stmt.clone().each_expr(&mut |e| {
                // The values of arms and jumps are not computed on every path. Calls stand only
                // in `Let`.
                if matches!(stmt, Stmt::Let(..)) {
                    self.calls(e);
                }
            });
            if let Stmt::Loop(l) = stmt
                && (l.style == Style::Bottom || matches!(l.trip, Trip::Fixed(n) if n > 0))
            {
                self.block(&l.body, next, false);
            }
            next += inner(stmt).into_iter().map(|inner| blocks(inner)).sum::<usize>();
            if may_leave(stmt) {
                return false;
            }
        }
        self.spots.push(spot(block.len(), self.in_main));
        true
    }

    fn calls(&mut self, e: &Expr) {
        if let Op::Call(function, _) = e.op {
            self.called[function as usize] = true;
        }
        e.args.iter().for_each(|arg| self.calls(arg));
    }
}
