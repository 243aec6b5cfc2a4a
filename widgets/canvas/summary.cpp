#include "widgets/canvas/summary.h"

#include "hardware/views/device_view.h"
#include "hardware/walk.h"
#include "widgets/canvas/natural_size.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <deque>

namespace orrery::ui {
namespace {

constexpr std::size_t mostNodes = 20000;  // beyond it reading all devices would be felt while editing
constexpr std::size_t mostKept = 6;

QStringList linesOf(const DeviceView& device) {
    QStringList lines;
    // The peak that a buyer reads first: 16-bit matrix products, else whatever the device does best.
    const auto best = [&](DType type) {
        return std::max(device.peaks[0][static_cast<std::size_t>(type)].value,
                        device.peaks[1][static_cast<std::size_t>(type)].value);
    };
    DType shown = DType::BF16;
    for (const DType type : {DType::BF16, DType::F16, DType::I8, DType::I16, DType::F32, DType::F64}) {
        if (best(type) > 0) {
            shown = type;
            break;
        }
    }
    if (best(shown) > 0) lines << text(FlopsPerSecond(best(shown))) + QLatin1Char(' ') + qs(toText(shown));
    const MemoryLevel& main = device.main();
    QStringList memory;
    if (main.capacity.value > 0) memory << text(main.capacity);
    if (main.bandwidth.value > 0) memory << text(main.bandwidth);
    if (!memory.isEmpty()) lines << memory.join(QStringLiteral(" · "));
    if (device.powerCap.value > 0) lines << text(device.powerCap);
    return lines;
}

int nodeAt(const Scene& scene, const std::string& path) {
    int node = 0;
    std::size_t from = path.find('/');
    while (from != std::string::npos) {
        const std::size_t to = path.find('/', from + 1);
        const std::string_view name =
            std::string_view(path).substr(from + 1, to == std::string::npos ? to : to - from - 1);
        int found = -1;
        for (const int child : scene.childrenOf(node)) {
            if (nameOf(*scene.nodes()[static_cast<std::size_t>(child)].component) == name) {
                found = child;
                break;
            }
        }
        if (found < 0) return -1;
        node = found;
        from = to;
    }
    return node;
}

}  // namespace

std::shared_ptr<const Summaries> Summaries::of(const Scene& scene) {
    struct Known {
        std::weak_ptr<const Hardware> design;
        std::shared_ptr<const Summaries> facts;
    };
    thread_local std::deque<Known> known;
    for (const Known& entry : known) {
        if (entry.design.lock() == scene.hardware() && scene.hardware()) return entry.facts;
    }
    auto made = std::make_shared<Summaries>();
    if (scene.hardware() && scene.nodes().size() <= mostNodes) {
        if (const Expected<std::vector<DeviceView>> devices = deviceViews(*scene.hardware())) {
            for (const DeviceView& device : *devices) {
                if (const int node = nodeAt(scene, device.path); node >= 0)
                    made->devices_.emplace(node, linesOf(device));
            }
        }
    }
    known.push_front({scene.hardware(), made});
    if (known.size() > mostKept) known.pop_back();
    return made;
}

const QStringList* Summaries::device(int node) const {
    const auto found = devices_.find(node);
    return found == devices_.end() ? nullptr : &found->second;
}

QString contentsText(const Component& component) {
    std::vector<std::pair<std::int64_t, QString>> kinds;
    const auto inside = partsIn(component);
    const std::size_t looked = std::min<std::size_t>(inside.size(), 2000);
    std::unordered_map<std::string_view, std::size_t> seen;
    for (std::size_t i = 0; i < looked; ++i) {
        const Component& child = inside[i];
        if (child.kind == ComponentKind::Link) continue;
        std::string_view stem = nameOf(child);
        while (stem.size() > 1 && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
        const auto [entry, isNew] = seen.emplace(stem, kinds.size());
        if (isNew) kinds.emplace_back(0, qs(stem));
        kinds[entry->second].first += child.instances();
    }
    QStringList parts;
    for (std::size_t i = 0; i < kinds.size() && parts.size() < 3; ++i)
        parts << (kinds[i].first == 1
                      ? kinds[i].second
                      : QStringLiteral("%1 × %2").arg(countText(static_cast<double>(kinds[i].first)), kinds[i].second));
    if (kinds.size() > 3 || looked < inside.size()) parts << QStringLiteral("…");
    return parts.join(QStringLiteral(" · "));
}

QStringList summaryLines(const Scene& scene, const Summaries& facts, int node) {
    const Component& component = *scene.nodes()[static_cast<std::size_t>(node)].component;
    if (const QStringList* device = facts.device(node)) return *device;
    QStringList lines = numbersOf(component);
    if (!partsIn(component).empty()) {
        const QString inside = contentsText(component);
        if (!inside.isEmpty()) lines.prepend(inside);
    }
    return lines;
}

}  // namespace orrery::ui
