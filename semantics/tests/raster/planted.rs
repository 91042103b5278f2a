//! Bugs in the table of rasterisation functions. A test of coverage, clipping, facing or
//! interpolation catches each.

use smallstep_semantics::number::Interval;
use smallstep_semantics::raster::{FrontFace, Rules, Topology};

use crate::coverage::{clipped, faces, tiles};
use crate::fragments::interpolated;
use crate::lines::lines;
use crate::within::contained;

#[test]
fn every_planted_bug_is_caught() {
    let right = Rules::default();
    let bugs: [(&str, Rules); 18] = [
        ("every edge is left", Rules { top_left: |_, _| true, ..right }),
        ("no edge is left", Rules { top_left: |_, _| false, ..right }),
        ("left without top", Rules { top_left: |_, dy| dy < 0, ..right }),
        ("bottom instead of top, both ways", Rules { top_left: |_, dy| dy <= 0, ..right }),
        ("centres at the corner", Rules { centre: |pixel, one| pixel * one, ..right }),
        ("centres one sub-pixel off", Rules { centre: |pixel, one| pixel * one + one / 2 + 1, ..right }),
        ("snapped to two sub-pixels", Rules { snap: |x| (x / 32.0).round() * 32.0, ..right }),
        ("no perspective divide", Rules { divide: |x, _| x, ..right }),
        ("no perspective", Rules { perspective: right.linear, ..right }),
        ("perspective where it is linear", Rules { linear: right.perspective, ..right }),
        (
            "swapped barycentric coordinates",
            Rules { perspective: |e, w, f| (Rules::default().perspective)([e[1], e[0], e[2]], w, f), ..right },
        ),
        ("depth range the other way round", Rules { depth_range: |z, near, far| z * (near - far) + far, ..right }),
        ("depth range added without scale", Rules { depth_range: |z, near, _| z + near, ..right }),
        ("depths from -w", Rules { depth_planes: [|p| p[2] + p[3], right.depth_planes[1]], ..right }),
        ("no far plane", Rules { depth_planes: [right.depth_planes[0], |_| 1.0], ..right }),
        ("crossing measured from the other end", Rules { crossing: |a, b| b / (b - a), ..right }),
        ("y points up in areas", Rules { front: |area, front| (area > 0) == (front == FrontFace::CounterClockwise), ..right }),
        ("half the viewport", Rules { viewport: |x, extent, centre| x * extent + centre, ..right }),
    ];
    let more: [(&str, Rules); 2] = [
        (
            "a fan without its centre",
            Rules { assemble: |t, i| if t == Topology::Fan { [i, i + 1, i + 2] } else { t.triangle(i) }, ..right },
        ),
        (
            "a strip's every second triangle is the first again",
            Rules { assemble: |t, i| if t == Topology::Strip { t.triangle(i & !1) } else { t.triangle(i) }, ..right },
        ),
    ];
    for (name, rules) in bugs.into_iter().chain(more) {
        let caught =
            tiles(&rules, 40).and_then(|()| clipped(&rules, 400)).and_then(|()| faces(&rules)).and_then(|()| interpolated(&rules, 200));
        assert!(caught.is_err(), "not caught: {name}");
    }
}

#[test]
fn planted_bugs_in_lines_are_caught() {
    let right = Rules::default();
    assert_eq!(lines(&right, 300), Ok(()));
    let bugs: [(&str, Rules); 3] = [
        ("along the line", Rules { beside_line: |dx, dy| [dx / dx.hypot(dy) / 2.0, dy / dx.hypot(dy) / 2.0], ..right }),
        ("half as wide", Rules { beside_line: |dx, dy| [-dy / dx.hypot(dy) / 4.0, dx / dx.hypot(dy) / 4.0], ..right }),
        ("centres at the corner", Rules { centre: |pixel, one| pixel * one, ..right }),
    ];
    for (name, bug) in bugs {
        assert!(lines(&bug, 300).is_err(), "not caught: {name}");
    }
}

#[test]
fn planted_bugs_in_bounds_are_caught() {
    let right = Rules::default();
    let bugs: [(&str, Rules); 12] = [
        ("vertices are in the middle", Rules { moved: |_, _| 0.0, ..right }),
        ("only the nearer end counts", Rules { moved: |of, x| (of.high - x).min(x - of.low), ..right }),
        ("half as far", Rules { moved: |of, _| (of.high - of.low) / 4.0, ..right }),
        ("the greater of both margins", Rules { apart: f64::max, ..right }),
        ("no margin for devices", Rules { apart: |moved, _| moved, ..right }),
        ("no margin for bounds", Rules { apart: |_, error| error, ..right }),
        ("every area has a sign", Rules { faces_surely: |_, _| true, ..right }),
        ("an area faces one way if it is not zero", Rules { faces_surely: |area, _| area != 0.0, ..right }),
        ("within a plane if the middle is", Rules { within_plane: |d| Some(d.low + d.high > 0.0), ..right }),
        ("within a plane if one may be", Rules { within_plane: |d| Some(d.high > 0.0), ..right }),
        ("divided by the least w", Rules { divide_bounds: |x, w| Interval::between(x.low / w.low, x.high / w.low), ..right }),
        (
            "rounded inward to the grid",
            Rules {
                snap_bounds: |place, grid| {
                    let [low, high] = [place.low.max(grid.low), place.high.min(grid.high)];
                    Interval::between(low.min(high), high)
                },
                ..right
            },
        ),
    ];
    for (name, bug) in bugs {
        let caught = contained(&bug, 30_000);
        assert!(caught.is_err(), "not caught: {name}");
    }
}
