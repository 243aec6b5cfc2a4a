#pragma once

// Recorded operators as the kernels that Orrery makes of a model: by name and shapes, forwards and backwards.
//
//   aten::conv2d, linear, addmm, mm, bmm, matmul     products and convolutions
//   aten::batch_norm, layer_norm, softmax, relu, add vector operators; pooling, embedding, attention
//   ConvolutionBackward0, AddmmBackward0, …          the launches of the backward pass that do their work, which share
//                                                    the recorded time as their least times on the device are
//   every operator of the optimizer                  one pass over all parameters
//
// An operator without a kernel of its own here (a counter's increment, dropout, ones_like) rides along: its time goes
// to the next one of its stage that has one, at the end of a stage to the one before.

#include "hardware/views/device_view.h"
#include "methods/kernel_method.h"
#include "workload/traces/operator_recording.h"

#include <map>
#include <string>
#include <vector>

namespace orrery {

struct RecordedLaunch {
    Kernel kernel;
    KernelUse use = KernelUse::Forward;
    double seconds = 0;  ///< riders included
    double idle = 0;     ///< of them, riders and time in which no kernel ran: what another size does not change
};

struct RecordedLaunches {
    std::vector<RecordedLaunch> launches;
    double seconds = 0;                    ///< of all operators
    double riding = 0;                     ///< of them, of operators without a kernel of their own
    std::map<std::string, double> riders;  ///< s by name
};

/// Fails with `recording.kernels` where no operator has a kernel here.
Expected<RecordedLaunches> recordedLaunches(const OperatorRecording& recording, const DeviceView& device);

}  // namespace orrery
