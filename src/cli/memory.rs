//! The memory after a run: storage buffers by their types, and storage images. They are printed or
//! written to files.

use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::{Value, json};
use smallstep::compute::given::{Assignment, Place};
use smallstep::compute::report::{self, Invocations};
use smallstep::compute::{Uses, show};
use smallstep_semantics::spirv::environment::{InvocationId, ObservedBuffer, ObservedImage};

use super::compute::{Failure, invalid};
use super::output;

/// The number of elements of one buffer that are printed without `--values`.
const FEW: usize = 256;

/// The settings of the output.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    /// The files for the bytes of buffers.
    pub(super) out: &'a [Assignment<PathBuf>],
    /// Whether to print all elements.
    pub(super) values: bool,
    /// Whether to print JSON.
    pub(super) json: bool,
}

impl Memory<'_> {
    /// Checks that the entry point uses each buffer that is written to a file.
    pub(super) fn check_out_places(self, name: &str, uses: Uses<'_>, entry: &str) -> Result<(), Failure> {
        let is_array = |place: Place| uses.storage_at(place).is_some_and(|v| uses.module().descriptor_count(v) != Some(1));
        if let Some(Assignment { place, .. }) = self.out.iter().find(|a| is_array(a.place)) {
            return Err(invalid(format!("{name}: --out {place} is an array of descriptors; --values prints all of its buffers")));
        }
        match self.out.iter().find(|a| uses.storage_at(a.place).is_none()) {
            Some(Assignment { place, .. }) => Err(invalid(format!("{name}: --out {place} is no storage buffer of \"{entry}\""))),
            None => Ok(()),
        }
    }

    /// Prints the buffers and images of an entry point with these uses, and writes the requested
    /// files. `initial_bytes` has the contents of buffers that are only read.
    pub(super) fn show<'g>(
        self,
        uses: Uses<'_>,
        invocations: Invocations<'_>,
        (buffers, images): (&[ObservedBuffer], &[ObservedImage]),
        initial_bytes: impl Fn(Place) -> Option<&'g [u8]>,
    ) -> Result<(), Failure> {
        for (at, buffer) in buffers.iter().enumerate() {
            self.buffer(uses, invocations, buffer, Place::of(buffers, at, |b| (b.set, b.binding)));
        }
        for (at, image) in images.iter().enumerate() {
            self.image(image, Place::of(images, at, |i| (i.set, i.binding)));
        }
        for Assignment { place, given: path } in self.out {
            let found = buffers.iter().find(|b| (b.set, b.binding) == (place.set, place.binding));
            // A buffer that is only read is unchanged, and a device does not return it.
            let bytes = found.map(|b| b.bytes.as_slice()).or_else(|| initial_bytes(*place)).unwrap_or_default();
            output::write(path, bytes).map_err(invalid)?;
            let undefined: u64 = found.map_or(0, |b| b.undefined.iter().map(|u| u.end - u.start).sum());
            if undefined > 0 {
                tell!("note: {undefined} bytes of {place} are any value; {} has 0 there", path.display());
            }
        }
        Ok(())
    }

    fn buffer(self, uses: Uses<'_>, invocations: Invocations<'_>, buffer: &ObservedBuffer, place: Place) {
        let Some(variable) = uses.storage_at(place) else { return };
        let module = uses.module();
        if !self.json {
            say!("{place} {}, {} bytes", uses.name_of(variable), buffer.bytes.len());
            let most = if self.values { usize::MAX } else { FEW };
            for row in show::rows(invocations, variable, buffer, most) {
                say!("  {row}");
            }
            return;
        }
        let mut elements = Vec::new();
        show::elements(invocations, variable, buffer, &mut |e| {
            elements.push(json!({"path": e.place(), "value": e.text, "made": e.made}));
            ControlFlow::Continue(())
        });
        let undefined = buffer.undefined.iter().map(|u| {
            let (made_at, made_by) = (report::instruction(module, u.made_at), invocation_json(invocations, u.made_by));
            json!({"id": u.kind, "start": u.start, "end": u.end, "made_at": made_at, "made_by": made_by})
        });
        let undefined: Vec<_> = undefined.collect();
        say!(
            "{}",
            json!({"schema": 1, "kind": "buffer", "set": place.set, "binding": place.binding, "array_element": place.element,
                "variable": variable.id, "name": module.name(variable.id), "bytes": buffer.bytes.len(), "elements": elements,
                "undefined": undefined})
        );
    }

    fn image(self, image: &ObservedImage, place: Place) {
        let [width, height, slices] = image.size;
        let size = if slices > 1 { &image.size[..] } else { &image.size[..2] };
        let texels = show::texels(image);
        if self.json {
            let undefined = image.undefined.iter().map(|u| json!({"id": u.kind, "component": u.component, "start": u.start, "end": u.end}));
            say!(
                "{}",
                json!({"schema": 1, "kind": "image", "set": place.set, "binding": place.binding, "array_element": place.element,
                    "format": image.format.name(), "size": size, "texels": texels, "undefined": undefined.collect::<Vec<_>>()})
            );
            return;
        }
        let times = if slices > 1 { format!("x{slices}") } else { String::new() };
        say!("{place} {}, {width}x{height}{times}", image.format.name());
        let most = if self.values { usize::MAX } else { FEW.div_ceil(width.max(1) as usize) };
        for row in texels.chunks(width.max(1) as usize).take(most) {
            say!("  {}", row.join(" "));
        }
    }
}

fn invocation_json(invocations: Invocations<'_>, by: InvocationId) -> Value {
    match invocations {
        Invocations::OfDispatch(module, groups) => json!(module.global(groups, by.workgroup, by.local)),
        Invocations::OfFragments(_) => json!({"quad": by.workgroup, "lane": by.local}),
    }
}
