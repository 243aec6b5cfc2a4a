#pragma once

// Bytes that an operator moves past each memory level, from the capacity of the level inside it.
//
// A matrix product whose operands do not fit keeps one of its three faces in tiles of the inner memory and streams
// the third extent past it: with S bytes of elements of e bytes, square tiles move about 2·M·N·K·e/√(S/e) bytes, the
// order of the communication lower bound (Hong and Kung, STOC 1981; Smith, Lowery, Langou and van de Geijn, "A Tight
// I/O Lower Bound for Matrix Multiplication", 2019). Attention keeps a block of queries and streams keys and values
// (Dao, FlashAttention-2, 2023). Everything else moves each operand once through every level.

#include "hardware/views/device_view.h"
#include "workload/workload.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// Bytes of one matrix product past a memory that feeds one of `inner` bytes: the least over the three faces that can
/// be kept, never less than the operands themselves. `a`, `b`, `c` are the bytes of all batches of the operands
/// [m×k], [k×n] and [m×n]; `element` the bytes of one element inside.
double productTraffic(const GemmShape& shape, double a, double b, double c, double element, double inner);

/// Which inputs an operator still finds in a shared on-chip memory of `capacity` bytes, because the operators since
/// the producer have touched less than that; `leader` as above, empty where nothing is fused. Fills `savedRead` and
/// `savedWrite` with the bytes of one execution that therefore do not cross main memory: a result is not written back
/// if every reader found it on chip.
void findOnChipReuse(const Graph& graph, const CostTable& costs, std::span<const std::int32_t> leader, double capacity,
                     std::vector<double>& savedRead, std::vector<double>& savedWrite);

/// traffic[level][operator], outermost level first, bytes of one execution; never decreasing inwards.
std::vector<std::vector<double>> levelTraffic(const Workload& workload, const DeviceView& device);
/// The same of fused kernels: `costs` and `leader` as a Lowering has them. What is made and read inside a group stays
/// on the chip; views are transparent.
std::vector<std::vector<double>> levelTraffic(const Graph& graph, const CostTable& costs,
                                              std::span<const std::int32_t> leader, const DeviceView& device);

}  // namespace orrery
