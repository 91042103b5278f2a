//! Scalars, inputs and outputs, which both engines share, and the effect of control flow on the
//! trust in lanes.

use smallvec::SmallVec;

use crate::number::{Lane, Lanes, Profile, Trust, Why};
use crate::spirv::module::{Interface, Module};
use crate::undefined::Unspecified;

/// The origin of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The reason that it is undefined.
    pub kind: Unspecified,
    /// The index of the instruction that made it, in the module.
    pub instruction: u32,
    /// The number of the invocation that made it, in the grid.
    pub invocation: u32,
}

/// A component of a value in the reference engine. A value is the sequence of its components, in
/// the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    /// The bits. They are zero above the component's width, and a Boolean is 0 or 1. They have no
    /// meaning if the scalar is undefined.
    pub bits: u64,
    /// What a conforming device may have instead.
    pub trust: Trust,
    /// The origin, if the scalar is undefined.
    pub undefined: Option<Origin>,
}

/// Components of a value.
pub type Scalars = SmallVec<[Scalar; 4]>;

impl Scalar {
    /// A constant, or an input that reaches the program bit for bit, of that component type.
    pub fn exact(component: crate::spirv::operation::Scalar, bits: u64) -> Scalar {
        use crate::spirv::operation::Scalar as Type;
        let trust = match component {
            Type::Float { width: 32 } => Trust::of_exact(f32::from_bits(bits as u32)),
            // Certificates against rewriting exist for 32 bits only.
            Type::Float { .. } => Trust { grid: None, ..Trust::CERTAIN },
            _ => Trust::CERTAIN,
        };
        Scalar { bits, trust, undefined: None }
    }

    /// An undefined value.
    pub fn undefined(origin: Origin) -> Scalar {
        Scalar { bits: 0, trust: Trust::CERTAIN, undefined: Some(origin) }
    }

    /// The lane of a 32-bit float or Boolean.
    #[inline]
    pub fn lane(self) -> Lane {
        Lane { bits: self.bits as u32, trust: self.trust }
    }

    /// The Boolean. Of an undefined value this is arbitrary.
    #[inline]
    pub fn is_true(self) -> bool {
        self.bits != 0
    }
}

impl From<Lane> for Scalar {
    fn from(lane: Lane) -> Scalar {
        Scalar { bits: lane.bits.into(), trust: lane.trust, undefined: None }
    }
}

/// The contents of a buffer, with its descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Buffer {
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The bytes, little-endian.
    pub bytes: Vec<u8>,
}

/// The inputs of one invocation of a fragment program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'b> {
    /// The BuiltIn FragCoord.
    pub frag_coord: [f32; 4],
    /// The buffers.
    pub buffers: &'b [Buffer],
}

impl<'b> Inputs<'b> {
    /// The bytes of a descriptor's buffer.
    pub fn buffer(&self, set: u32, binding: u32) -> Option<&'b [u8]> {
        self.buffers.iter().find(|b| b.set == set && b.binding == binding).map(|b| b.bytes.as_slice())
    }
}

/// The outputs of one invocation of a fragment program.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Outputs {
    /// The components of each output that was written, by ascending location.
    pub written: SmallVec<[(u32, Lanes); 1]>,
    /// The locations of outputs that were not written, whose values are undefined.
    pub unwritten: SmallVec<[u32; 1]>,
    /// The number of rules applied: one for each executed instruction, but one for all OpPhi of a
    /// block together.
    pub steps: u64,
}

impl Outputs {
    /// The components of the output at a location, if it was written.
    pub fn at(&self, location: u32) -> Option<&Lanes> {
        self.written.iter().find(|(l, _)| *l == location).map(|(_, lanes)| lanes)
    }

    /// The components of all written outputs, by ascending location.
    pub fn lanes(&self) -> Lanes {
        self.written.iter().flat_map(|(_, lanes)| lanes.iter().copied()).collect()
    }

    /// The components of another run's outputs at the locations that this run wrote. A location
    /// that the other run did not write gets this run's components, in doubt.
    pub(in crate::spirv) fn components_of(&self, other: &Outputs) -> Lanes {
        let unwritten = |lane: &Lane| Lane { trust: lane.trust.in_doubt(Why::Control), ..*lane };
        let lanes_at =
            |(location, lanes): &(u32, Lanes)| other.at(*location).cloned().unwrap_or_else(|| lanes.iter().map(unwritten).collect());
        self.written.iter().flat_map(lanes_at).collect()
    }
}

/// The first fault of the inputs for this module, if there is one: a buffer that is missing or too
/// short for its structure.
pub(in crate::spirv) fn missing_resource(module: &Module, inputs: &Inputs<'_>) -> Option<String> {
    module.variables.iter().find_map(|v| missing_buffer(v.id, module.interface(v.id)?, module.buffer_size(v.id), inputs))
}

/// The fault of the buffer of one variable, which needs `needed` bytes, if there is one.
pub(in crate::spirv) fn missing_buffer(id: u32, interface: Interface, needed: u64, inputs: &Inputs<'_>) -> Option<String> {
    let Interface::Buffer(set, binding) = interface else { return None };
    match inputs.buffer(set, binding) {
        None => Some(format!("no buffer at set {set}, binding {binding} for %{id}")),
        Some(bytes) if (bytes.len() as u64) < needed => {
            Some(format!("the buffer at set {set}, binding {binding} has {} bytes; %{id} needs {needed}", bytes.len()))
        }
        Some(_) => None,
    }
}

/// The float at a byte offset. The caller ensures that it is within the bytes.
#[inline]
pub(in crate::spirv) fn float_at(bytes: &[u8], offset: usize) -> Lane {
    let quad = bytes[offset..offset + 4].try_into().expect("a slice of 4 bytes");
    Lane::exact(f32::from_bits(u32::from_le_bytes(quad)))
}

/// Whether control flow has depended on a lane for which a device may have another value.
///
/// After such a branch another conforming device may be anywhere else, so everything written from
/// there on is in doubt. The doubt lasts to the end of the run. This is simple, and sound because
/// every output counts as written at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Control {
    /// Whether a condition was in doubt under the strict profile.
    doubtful: bool,
    /// Whether a condition had no certificate for the profile without float controls.
    uncertified: bool,
}

impl Control {
    /// The state after a branch on this condition.
    #[inline]
    #[must_use]
    pub fn after(self, condition: Trust) -> Control {
        Control { doubtful: self.doubtful || condition.doubt.is_some(), uncertified: self.uncertified || condition.grid.is_none() }
    }

    /// Whether a condition was in doubt under a profile.
    pub fn is_doubtful(self, profile: Profile) -> bool {
        if profile.is_strict() { self.doubtful } else { self.uncertified }
    }

    /// Puts lanes that are written now in doubt, if control is.
    #[inline]
    pub fn mark(self, lanes: &mut [Lane]) {
        self.mark_all(lanes.iter_mut().map(|lane| &mut lane.trust));
    }

    /// [`Control::mark`] for scalars.
    #[inline]
    pub fn mark_scalars(self, scalars: &mut [Scalar]) {
        self.mark_all(scalars.iter_mut().map(|scalar| &mut scalar.trust));
    }

    #[inline]
    fn mark_all<'t>(self, trusts: impl Iterator<Item = &'t mut Trust>) {
        if self == Control::default() {
            return;
        }
        for trust in trusts {
            if self.doubtful {
                trust.doubt = trust.doubt.or(Some(Why::Control));
            }
            trust.grid = None;
        }
    }
}
