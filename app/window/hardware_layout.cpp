#include "app/window/hardware_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::app {

namespace {

/// How much room a component asks for: containers grow with what they hold, slower than linearly.
double weight(const Component& component) {
    double sum = 0;
    for (const Component& child : component.children) sum += weight(child);
    return component.children.empty() ? 1.0 : 0.6 + std::pow(sum, 0.9);
}

class Placer {
public:
    Placer(double line, std::vector<PlacedComponent>& out) : line_(line), out_(out) {}

    void place(const Component& component, const ComponentPath& path, const QRectF& box) {
        const std::size_t self = out_.size();
        out_.push_back({path, &component, box, line_ * 1.5, false});
        if (component.children.empty()) return;
        const double gap = line_ * 0.4;
        const QRectF inner = box.adjusted(gap, line_ * 1.5, -gap, -gap);
        std::vector<double> weights;
        for (const Component& child : component.children) weights.push_back(weight(child));
        if (!fits(inner, weights)) {
            out_[self].childrenHidden = true;
            return;
        }
        split(component, path, inner, weights, 0, component.children.size());
    }

private:
    bool fits(const QRectF& inner, const std::vector<double>& weights) const {
        const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
        const double least = *std::ranges::min_element(weights);
        const double area = inner.width() * inner.height() * least / all;
        return inner.width() > line_ * 4 && inner.height() > line_ * 1.5 && area > line_ * line_ * 7;
    }

    /// Halves the children by weight and the box along its longer side, until one child is left.
    void split(const Component& parent, const ComponentPath& path, const QRectF& box,
               const std::vector<double>& weights, std::size_t first, std::size_t last) {
        if (last - first == 1) {
            ComponentPath next = path;
            next.push_back(static_cast<int>(first));
            const double half = line_ * 0.15;
            place(parent.children[first], next, box.adjusted(half, half, -half, -half));
            return;
        }
        const auto at = [&](std::size_t index) { return weights.begin() + static_cast<std::ptrdiff_t>(index); };
        const double all = std::accumulate(at(first), at(last), 0.0);
        std::size_t middle = first + 1;
        double before = weights[first];
        while (middle + 1 < last && before + weights[middle] / 2 < all / 2) before += weights[middle++];
        QRectF one = box, other = box;
        // Captions are wide: a box is divided side by side only while both halves stay readable.
        if (box.width() > box.height() * 1.6) {
            one.setWidth(box.width() * before / all);
            other.setLeft(one.right());
        } else {
            one.setHeight(box.height() * before / all);
            other.setTop(one.bottom());
        }
        split(parent, path, one, weights, first, middle);
        split(parent, path, other, weights, middle, last);
    }

    double line_;
    std::vector<PlacedComponent>& out_;
};

}  // namespace

std::vector<PlacedComponent> layoutHardware(const Component& root, const QRectF& area, double lineHeight) {
    std::vector<PlacedComponent> placed;
    if (area.width() < lineHeight * 3 || area.height() < lineHeight) return placed;
    Placer(lineHeight, placed).place(root, {}, area);
    return placed;
}

}  // namespace orrery::app
