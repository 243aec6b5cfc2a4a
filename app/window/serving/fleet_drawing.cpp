#include "app/window/serving/fleet_drawing.h"

#include "app/window/form_parts.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QShowEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

QString words(const char* text, int count = -1) {
    return QCoreApplication::translate("FleetDrawing", text, nullptr, count);
}

/// What the replicas of one place do, summed.
struct Doing {
    int replicas = 0, busy = 0, decoding = 0, prompts = 0, waiting = 0, arriving = 0;
    std::int64_t usedBlocks = 0, totalBlocks = 0;

    void add(const ui::Replay::ReplicaAt& now) {
        ++replicas;
        busy += now.busy;
        for (const ui::Replay::Member& member : now.members) ++(member.prompt ? prompts : decoding);
        waiting += now.waitingCount;
        arriving += static_cast<int>(now.arriving.size());
        usedBlocks += now.usedBlocks;
        totalBlocks += now.totalBlocks;
    }
    double kvShare() const {
        return totalBlocks > 0 ? static_cast<double>(usedBlocks) / static_cast<double>(totalBlocks) : 0;
    }
    QString text() const {
        QStringList parts;
        if (prompts > 0) parts << words("%n prompt(s)", prompts);
        if (decoding > 0) parts << words("%n decoding", decoding);
        if (busy == 0) parts << words("idle");
        if (waiting > 0) parts << words("%n waiting", waiting);
        parts << words("KV cache %1").arg(ui::percentText(kvShare()));
        return parts.join(QStringLiteral(" · "));
    }
};

QColor colourOf(double kvShare) {
    const ui::Palette& colours = ui::Theme::instance().colours();
    return kvShare > 0.95 ? colours.bad : kvShare > 0.8 ? colours.warning : colours.good;
}

bool sameDesign(const HardwarePtr& a, const HardwarePtr& b) {
    return a == b || (a && b && *a == *b);
}

}  // namespace

std::vector<ui::ComponentLoad> fleetLoads(const ui::Replay& replay, const PlannedFleet& planned, const Hardware& design,
                                          SimTime time) {
    std::vector<ui::ComponentLoad> loads;
    if (!replay.run()) return loads;
    const auto& specs = replay.run()->fleet->replicas;
    int moving = 0;
    std::vector<std::pair<ComponentPath, Doing>> places;  // pools on one device are one
    for (std::size_t replica = 0; replica < replay.replicaCount() && !specs.empty(); ++replica) {
        // What an autoscaler adds is alike the last that was planned.
        const std::string& name = specs[std::min(replica, specs.size() - 1)].pool;
        const auto pool = std::ranges::find(planned.pools, name, &PlannedPool::name);
        if (pool == planned.pools.end() || !pool->design) continue;
        if (pool->design.get() != &design && !(*pool->design == design)) continue;
        auto place = std::ranges::find(places, pool->place, &std::pair<ComponentPath, Doing>::first);
        if (place == places.end()) place = places.insert(places.end(), {pool->place, {}});
        const auto now = replay.at(replica, time);
        place->second.add(now);
        moving += static_cast<int>(now.arriving.size());
    }
    for (const auto& [path, doing] : places) {
        const double share = doing.kvShare();
        QString text = doing.text();
        if (doing.replicas > 1) text = words("%n replica(s)", doing.replicas) + QStringLiteral(": ") + text;
        loads.push_back({path, share, text, colourOf(share)});
    }
    if (planned.network && moving > 0 && componentAt(design.root, *planned.network))
        loads.push_back(
            {*planned.network, 1, words("%n KV cache(s) moving", moving), ui::Theme::instance().colours().accent});
    return loads;
}

FleetDrawing::FleetDrawing(QWidget* parent) : QWidget(parent) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, unit / 2, 0, 0);
    column->setSpacing(unit / 2);
    auto* row = new QHBoxLayout;
    choice_ = named(new QComboBox(this), "serving.design", QObject::tr("Design"),
                    QObject::tr("The pools use more than one design: choose the one to show"));
    told_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    told_->setElided(true);
    row->addWidget(choice_);
    row->addWidget(told_, 1);
    column->addLayout(row);
    view_ = named(new ui::CanvasView(&selection_, this), "serving.drawing", QObject::tr("The fleet on the drawing"),
                  QString());
    view_->setShowsGrid(false);
    column->addWidget(view_, 1);
    connect(choice_, &QComboBox::activated, this, &FleetDrawing::showDesign);
}

void FleetDrawing::setFleet(const PlannedFleet& planned, const HardwarePtr& drawing, ui::PlacementsPtr placements,
                            const ui::Replay* replay) {
    planned_ = planned;
    drawing_ = drawing;
    placements_ = std::move(placements);
    replay_ = replay;
    designs_.clear();
    for (PlannedPool& pool : planned_.pools) {
        if (!pool.design) continue;
        const auto known =
            std::ranges::find_if(designs_, [&](const HardwarePtr& each) { return sameDesign(each, pool.design); });
        if (known == designs_.end()) {
            designs_.push_back(pool.design);
        } else {
            pool.design = *known;  // compared at every frame: by address
        }
    }
    const QString before = choice_->currentText();
    choice_->clear();
    for (const HardwarePtr& design : designs_) choice_->addItem(ui::qs(design->name));
    choice_->setCurrentIndex(std::max(0, choice_->findText(before)));
    choice_->setVisible(designs_.size() > 1);
    showDesign();
}

void FleetDrawing::showDesign() {
    const auto index = static_cast<std::size_t>(std::max(0, choice_->currentIndex()));
    const HardwarePtr design = index < designs_.size() ? designs_[index] : nullptr;
    const bool own = sameDesign(design, drawing_);
    if (design) {
        const bool other = !shown_ || !sameDesign(design, shown_);
        view_->setDesign(design,
                         own && placements_
                             ? placements_
                             : std::make_shared<const ui::Placements>(ui::readPlacements(design->layoutYaml)),
                         other);
    }
    shown_ = design;
    told_->setFullText(!design ? tr("No pool uses a drawn device")
                       : own
                           ? tr("%1, as drawn. The bar on a device shows its KV cache").arg(ui::qs(design->name))
                           : tr("%1 of the library. The bar on a device shows its KV cache").arg(ui::qs(design->name)));
    showLoads();
}

void FleetDrawing::setPlacements(ui::PlacementsPtr placements) {
    if (placements == placements_) return;
    placements_ = std::move(placements);
    showDesign();
}

void FleetDrawing::setTime(SimTime time) {
    time_ = time;
    if (isVisible()) showLoads();
}

void FleetDrawing::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    view_->fitAll();
    showLoads();
}

void FleetDrawing::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    view_->fitAll();
}

void FleetDrawing::showLoads() {
    loads_ = replay_ && shown_ ? fleetLoads(*replay_, planned_, *shown_, time_) : std::vector<ui::ComponentLoad>{};
    view_->setLoads(loads_);
}

}  // namespace orrery::app
