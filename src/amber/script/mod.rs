//! A script: its commands and expectations. Names are resolved. A reference is an index in the list
//! of the item's kind.
//!
//! This is the interface between the text and any engine. A reader has checked that every reference
//! exists, that sizes are within [`super::limits`], that values fit their types, and that commands
//! fit the kind of their pipeline. It has not checked the requirements of modules, nor the features
//! of a device.

use std::sync::Arc;

use super::layout::StructType;

/// An enumeration whose variants have names in scripts.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($variant:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $type {
            $($variant,)*
        }

        impl $type {
            /// Every variant, with its name in a script.
            pub const ALL: &'static [($type, &'static str)] = &[$(($type::$variant, $name),)*];

            /// Its name in a script.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }

            /// The variant with that name.
            pub fn named(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$variant),)* _ => None }
            }
        }
    };
}

mod buffer;
mod command;
mod pipeline;
mod shader;

pub use buffer::{AddressMode, BorderColour, Buffer, Extent, Filter, Initial, Sampler, View};
pub use command::{Action, Bits64, Check, Command, Comparator, Expect, Lane, Run, RunKind, Tolerance, Topology};
pub use pipeline::{
    Attachment, Binding, BlendEquation, BlendFactor, BlendOp, BlendState, BufferRange, Compare, CullMode, DEFAULT_FRAMEBUFFER, DepthState,
    FrontFace, Pipeline, PipelineKind, Rate, Resource, Specialization, StencilFace, StencilOp, StencilState, VertexData, Viewport,
};
pub use shader::{Compiler, Language, Shader, ShaderError, Source, Stage, version_of};

/// A line of the text, from 1. 0 for an item that is not from a text. It is not part of a script's
/// meaning, so all lines compare equal.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Line) -> bool {
        true
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! places {
    ($($name:ident $list:ident $item:ident;)*) => {
        $(
            #[doc = concat!("The place of one in [`Script::", stringify!($list), "`].")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub usize);

            impl std::ops::Index<$name> for Script {
                type Output = $item;

                fn index(&self, place: $name) -> &$item {
                    &self.$list[place.0]
                }
            }
        )*
    };
}

places! {
    ShaderId shaders Shader;
    BufferId buffers Buffer;
    SamplerId samplers Sampler;
    PipelineId pipelines Pipeline;
}

/// The language of the script's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// AmberScript, whose first line is `#!amber`.
    #[default]
    Amber,
    /// The sections of VkRunner: `[test]` and so on.
    VkScript,
}

/// A script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The language that it was read from.
    pub dialect: Dialect,
    /// The features that a device must offer.
    pub requirements: Vec<Requirement>,
    /// The timeout of a fence in milliseconds, if `SET ENGINE_DATA fence_timeout_ms` declares it.
    pub fence_timeout_ms: Option<u32>,
    /// The files inside the script. Shaders that name a file already have its text.
    pub files: Vec<VirtualFile>,
    /// The STRUCT types.
    pub structs: Vec<Arc<StructType>>,
    /// Shaders.
    pub shaders: Vec<Shader>,
    /// Buffers and images.
    pub buffers: Vec<Buffer>,
    /// Samplers.
    pub samplers: Vec<Sampler>,
    /// The pipelines. A derived pipeline is complete by itself.
    pub pipelines: Vec<Pipeline>,
    /// The commands, in order.
    pub commands: Vec<Command>,
}

impl Script {
    /// Sets the target environment, such as `spv1.4`, of shaders that name none. Shaders with words
    /// stay as they are.
    pub fn target(&mut self, environment: &str) {
        for shader in &mut self.shaders {
            if shader.target_env.is_none() && matches!(shader.source, Source::Assembly(_) | Source::Foreign { .. }) {
                shader.target_env = Some(environment.to_string());
            }
        }
    }
}

/// A feature or property that a device must offer, or the script says nothing about the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The kind of requirement.
    pub kind: RequirementKind,
    /// The name, such as `shaderFloat64` or `VK_KHR_storage_buffer_storage_class`.
    pub name: String,
    /// The line of its declaration.
    pub line: Line,
}

/// The kinds of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequirementKind {
    /// A feature of the physical device.
    Feature,
    /// A property of the physical device that must be true.
    Property,
    /// A device extension.
    DeviceExtension,
    /// An instance extension.
    InstanceExtension,
}

impl RequirementKind {
    /// Every kind with its command.
    pub const ALL: [(RequirementKind, &'static str); 4] = [
        (RequirementKind::Feature, "DEVICE_FEATURE"),
        (RequirementKind::Property, "DEVICE_PROPERTY"),
        (RequirementKind::DeviceExtension, "DEVICE_EXTENSION"),
        (RequirementKind::InstanceExtension, "INSTANCE_EXTENSION"),
    ];
}

/// A file inside the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: Arc<str>,
    /// The line of its declaration.
    pub line: Line,
}
