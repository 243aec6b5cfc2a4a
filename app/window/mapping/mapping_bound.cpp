#include "app/window/mapping/mapping_bound.h"

#include "app/window/form_parts.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/mapping/bound_plot.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

MappingBound::MappingBound(QWidget* parent) : QWidget(parent) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, unit, 0, 0);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(unit * 3 / 2, 0, unit * 3 / 2, 0);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, this);
    state_->setObjectName(QStringLiteral("mapping.bound.state"));
    state_->setElided(true);
    export_ = named(new QPushButton(tr("Export …"), this), "mapping.bound.export", tr("Export the curve"),
                    tr("The picture as SVG, PDF or PNG, or every corner, level and mapping as CSV"));
    export_->setEnabled(false);
    row->addWidget(state_, 1);
    row->addWidget(export_);
    plot_ = new ui::BoundPlot(this);
    column->addLayout(row);
    column->addWidget(plot_, 1);
    connect(export_, &QPushButton::clicked, this, &MappingBound::exportAs);
}

void MappingBound::setNest(const NestProblem& problem, const NestHardware& hardware) {
    hardware_ = hardware;
    mapping_.reset();
    counts_.reset();
    if (problem_ && *problem_ == problem && plot_->bound()) {
        DrawnBound drawn = *plot_->bound();
        drawn.hardware = hardware;
        drawn.mapping.reset();
        plot_->setBound(std::move(drawn));
        return tell();
    }
    problem_ = problem;
    export_->setEnabled(false);
    plot_->clear(tr("Looking at every tiling …"));
    work_.ask([problem](std::stop_token stop, Progress&) { return dataMovementBound(problem, {}, std::move(stop)); },
              [this, problem](Expected<BoundCurve>&& curve) {
                  if (!curve) return plot_->clear(ui::windowText(curve.error().message));
                  plot_->setBound({problem.name, problem, hardware_, std::move(*curve), {}});
                  export_->setEnabled(true);
                  tell();
              });
}

void MappingBound::setMapping(const NestMapping& mapping, const std::optional<NestCounts>& counts) {
    mapping_ = mapping;
    counts_ = counts;
    tell();
}

void MappingBound::tell() {
    if (!plot_->bound() || !problem_) return;
    const bool fits = mapping_ && counts_;
    plot_->setMapping(fits ? std::optional(mappingPoint(*problem_, *mapping_, *counts_)) : std::nullopt);
    state_->setFullText(plot_->accessibleDescription());
}

void MappingBound::exportAs() {
    if (const QString late = ui::Veil::lateIn(*plot_); !late.isEmpty()) {
        state_->setTone(ui::Tone::Bad);
        return state_->setFullText(tr("Not exported. %1").arg(late));
    }
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        this, tr("Export the curve"), QStringLiteral("bound.svg"),
        tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png);;CSV of all corners (*.csv);;TEX table (*.tex)"), &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    const QString problem = plot_->exportTo(file);
    state_->setTone(problem.isEmpty() ? ui::Tone::Normal : ui::Tone::Bad);
    state_->setFullText(problem.isEmpty() ? tr("Wrote %1").arg(file) : problem);
}

}  // namespace orrery::app
