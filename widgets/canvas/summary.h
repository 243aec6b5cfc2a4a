#pragma once

// What a component says of itself when its inside is not shown: a device its peaks and main memory, others what is in
// them. Computed once for each design.

#include "hardware/component.h"
#include "widgets/canvas/scene.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <unordered_map>

namespace orrery::ui {

class Summaries {
public:
    /// Shared between calls for the same design; kept for the latest few.
    static std::shared_ptr<const Summaries> of(const Scene& scene);
    /// `989 TFLOP/s bf16`, `80 GB · 3.35 TB/s`; null if the node is no device.
    const QStringList* device(int node) const;

private:
    std::unordered_map<int, QStringList> devices_;
};

/// `8 × h100 · 4 × nvswitch`: what stands in a component, the most numerous kinds first.
QString contentsText(const Component& component);
/// Lines for a closed box: device numbers, else key numbers, else contents.
QStringList summaryLines(const Scene& scene, const Summaries& facts, int node);

}  // namespace orrery::ui
