//! The part of VkScript that compute tests need.

use crate::samples::VKSCRIPT;
use crate::{lines, script};
use pretty_assertions::assert_eq;
use smallstep::amber::*;

#[test]
fn in_detail() {
    let script = script(VKSCRIPT);
    assert_eq!((script.dialect, script.fence_timeout_ms, script.requirements.len()), (Dialect::VkScript, Some(500), 2));
    let Source::Assembly(text) = &script.shaders[0].source else { panic!("assembly") };
    assert_eq!(&**text, "OpCapability Shader ; [not a section]\n# kept\n\n");
    let buffers: Vec<_> = script.buffers.iter().map(|b| (b.name.as_str(), b.data_type.name(), b.items, b.stride)).collect();
    assert_eq!(
        buffers,
        [
            ("ssbo_0_0", "float".into(), 3, 4),
            ("ssbo_1_2", "vec4<int32>".into(), 2, 16),
            ("ubo_0_3", "vec3<float>".into(), 2, 16),
            ("push_constants", "uint32".into(), 2, 4)
        ]
    );
    assert_eq!(script.buffers[0].bytes(), [1.5f32, -2.0, 16.0].map(f32::to_le_bytes).concat());
    assert_eq!(script.buffers[3].bytes(), [0, 0, 0, 0, 7, 0, 0, 0]);
    assert_eq!((&*script.pipelines[0].shaders[0].entry, script.pipelines[0].bindings.len()), ("other", 3));
    let Action::Expect(Expect { check: Check::Values { comparator, tolerance, lanes }, .. }) = &script.commands[1].action else { panic!() };
    assert_eq!((comparator, tolerance.len(), lanes.len()), (&Comparator::Eq, 2, 3));
    let Action::Expect(Expect { check: Check::Values { tolerance, lanes, .. }, line, .. }) = &script.commands[3].action else { panic!() };
    assert_eq!((tolerance.len(), lanes[0].offset, line.0), (0, 4, 21));
}

#[test]
fn a_write_after_a_dispatch_is_a_command() {
    let text =
        "[compute shader spirv]\n[test]\nssbo 0 subdata int 0 1 2\ncompute 1 1 1\nssbo 0 subdata int 4 9\nprobe ssbo int 0 0 == 1 9\n";
    let script = script(text);
    let mut held = script.contents();
    let Action::Write { buffer, lanes } = &script.commands[1].action else { panic!("a write") };
    let Action::Expect(expect) = &script.commands[2].action else { panic!("an expectation") };
    assert_eq!(judge(&script, expect, &held).decision(), Decision::Fails);
    for lane in lanes {
        held[*buffer].write(lane).unwrap_or_else(|e| panic!("{e}"));
    }
    assert_eq!(judge(&script, expect, &held).decision(), Decision::Holds);
    assert!(held[*buffer].write(&Lane { offset: 5, ..lanes[0] }).is_err());
    assert!(script.print().is_err());
}

#[test]
fn errors() {
    let shader = "[compute shader spirv]\n";
    for (text, error) in [
        ("", "1:1: the script has neither the mark"),
        ("[test]\ncompute 1 1 1", "1:1: the script has no compute shader"),
        ("[compute shader]\n[compute shader]\n[test]\n", "2:1: the script has two"),
        ("[vertex shader]\nxx\n[test]\n", "unsupported: 1:1: the section `[vertex shader]`"),
        ("[geometry shader spirv]\n", "unsupported: 1:1"),
        ("[vertex data]\n0/R32_SFLOAT\n1\n", "unsupported: 1:1"),
        ("[nonsense]\nxx\nyy\n", "1:1: found `[nonsense]`"),
        ("stray\n", "1:1: found `stray`, where a section"),
        ("[require]\nfbsize 3 3\n", "unsupported: 2:1: fbsize"),
        ("[compute shader spirv hex]\n0x07230203 zz\n[test]", "2:12: found `zz`"),
        ("[test]\ndraw rect 0 0 1 1", "unsupported: 2:1: draw"),
        ("[test]\nprobe all rgb 1 1 1", "unsupported: 2:1: probing"),
        ("[test]\nfrontFace clockwise", "2:1: found `frontFace`"),
        ("[test]\ncompute 1 1", "2:12: the line ends"),
        ("[test]\nssbo 0 subdata quux 0 1", "2:16: found `quux`"),
        ("[test]\nssbo x 8", "2:6: found `x`, where a binding"),
        ("[test]\nssbo 0 subdata vec2 0 1 2 3", "2:16: 3 values are no whole number of vec2"),
        ("[test]\nssbo 0 subdata int 2 1", "2:16: offset 2 is no multiple of the 4 bytes"),
        ("[test]\nssbo 0 subdata int 0 1\nssbo 0 subdata float 0 1", "3:16: the buffer is written as `float` here"),
        ("[test]\nssbo 0 subdata int 1073741824 1", "limit: 2:16"),
        ("[test]\nprobe ssbo int 0 0 == 1", "2:12: no storage buffer 0:0"),
        ("[test]\nssbo 0 4\nprobe ssbo int 0 0 = 1", "3:20: found `=`"),
        ("[test]\nssbo 0 4\nprobe ssbo int 0 0 == 1.5", "3:23: 1.5 is no value"),
        ("[test]\ntolerance", "2:10: TOLERANCE has no values"),
        ("[test]\ntolerance -1", "2:11: -1 is no tolerance"),
        ("[test]\nssbo 0 4\nuniform ubo 0 int 0 1", "both a storage and a uniform buffer"),
    ] {
        let text = if text.contains("shader") || text.is_empty() || text.starts_with("[test]\ncompute 1 1 1") {
            text.to_string()
        } else {
            format!("{text}\n{shader}")
        };
        let errors = read(&text).expect_err(&text);
        assert!(lines(&errors).contains(error), "{text}\n{}does not contain {error}", lines(&errors));
    }
}
