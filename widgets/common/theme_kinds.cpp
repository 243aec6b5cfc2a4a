#include "widgets/common/theme.h"

// Hues of components, from the set of Okabe and Ito: a memory has the warm hue of its level, what computes is blue,
// what connects is purple, what only holds others is grey.

namespace orrery::ui {

QColor Theme::kindColour(ComponentKind kind) const {
    const bool dark = mode_ == Mode::Dark;
    switch (kind) {
        case ComponentKind::System:
        case ComponentKind::Node:
            return QColor(dark ? "#98a1ad" : "#6d7682");
        case ComponentKind::Package:
        case ComponentKind::Die:
            return QColor(dark ? "#1fb88b" : "#00795a");
        case ComponentKind::Cluster:
        case ComponentKind::Core:
            return QColor(dark ? "#3d9fdc" : "#0072b2");
        case ComponentKind::Array:
        case ComponentKind::TensorUnit:
            return QColor(dark ? "#56b4e9" : "#1d86c0");
        case ComponentKind::VectorUnit:
        case ComponentKind::Mac:
            return QColor(dark ? "#8accf2" : "#3a9fd8");
        case ComponentKind::Dram:
            return levelColour(0);
        case ComponentKind::Cache:
        case ComponentKind::Buffer:
            return levelColour(1);
        case ComponentKind::RegisterFile:
            return levelColour(2);
        case ComponentKind::Link:
        case ComponentKind::Switch:
        case ComponentKind::Topology:
            return QColor(dark ? "#cc79a7" : "#9c4479");
    }
    return QColor(dark ? "#98a1ad" : "#6d7682");
}

}  // namespace orrery::ui
