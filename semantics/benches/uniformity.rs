//! Uniformity analysis of growing programs: statements per second, and the nodes and edges of
//! both modes.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::uniformity::{seed, wsl};
use smallstep_semantics::wsl::check;
use smallstep_semantics::wsl::typing::program::Program;
use std::fmt::Write;
use std::hint::black_box;

/// Functions with loops, branches, calls and barriers, as tiled kernels have them, and an entry
/// point that calls each.
fn program(functions: usize) -> Program {
    let mut text = String::new();
    for i in 0..functions {
        let _ = write!(
            text,
            "uint tile{i}(uint row, uint count, constant uint[] size, device uint[] data) {{\n\
             \x20   uint sum = 0u;\n\
             \x20   for (uint k = 0u; k < size[{i}u % 4u]; k++) {{\n\
             \x20       uint at = row * 16u + k;\n\
             \x20       if (at >= count) {{ continue; }}\n\
             \x20       sum += data[at] * (k + {i}u);\n\
             \x20       if (sum > 1000u) {{ sum -= 1000u; }} else {{ sum += 1u; }}\n\
             \x20   }}\n\
             \x20   AllMemoryBarrierWithGroupSync();\n\
             \x20   switch (sum & 3u) {{\n\
             \x20       case 0u: sum = row; break;\n\
             \x20       default: sum += count; break;\n\
             \x20   }}\n\
             \x20   data[row] = sum;\n\
             \x20   return sum;\n\
             }}\n"
        );
    }
    text.push_str(
        "[numthreads(64, 1, 1)] compute void main(uint3 id : SV_DispatchThreadID, constant uint[] size : register(b0), \
         device uint[] data : register(u0)) {\n    uint count = size[0u];\n",
    );
    for i in 0..functions {
        let _ = writeln!(text, "    data[{i}u] = tile{i}(id.x, count, size, data);");
    }
    text.push_str("}\n");
    check(&text).expect("valid")
}

fn uniformity(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("uniformity");
    for functions in [50, 200, 800] {
        let program = program(functions);
        let statements = program.stmts.len();
        for (name, analysis) in [("seed", seed::analyse(&program)), ("precise", wsl::analyse(&program).expect("small"))] {
            // A loop of varying length stands before each barrier. The seed's analysis
            // rejects this.
            assert_eq!(analysis.accepts(), name == "precise");
            println!("{name}: {statements} statements, {} nodes, {} edges", analysis.nodes, analysis.edges);
        }
        group.throughput(Throughput::Elements(statements as u64));
        group.bench_function(BenchmarkId::new("seed", statements), |b| b.iter(|| seed::analyse(black_box(&program))));
        group.bench_function(BenchmarkId::new("precise", statements), |b| b.iter(|| wsl::analyse(black_box(&program))));
    }
    group.finish();
}

criterion_group!(benches, uniformity);
criterion_main!(benches);
