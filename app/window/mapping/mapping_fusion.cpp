#include "app/window/mapping/mapping_fusion.h"

#include "app/window/form_parts.h"
#include "base/executor.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/mapping/fused_list.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

MappingFusion::MappingFusion(QWidget* parent) : QWidget(parent) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, unit, 0, 0);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(unit * 3 / 2, 0, unit * 3 / 2, 0);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, this);
    state_->setObjectName(QStringLiteral("mapping.fused.state"));
    state_->setElided(true);
    run_ = named(
        new QPushButton(tr("Find what runs together"), this), "mapping.fused.run", tr("Find what runs together"),
        tr("Searches neighbouring operators to run tile by tile, with the objective above. While it runs: stops it"));
    row->addWidget(state_, 1);
    row->addWidget(run_);
    list_ = new ui::FusedList(this);
    column->addLayout(row);
    column->addWidget(list_, 1);
    connect(run_, &QPushButton::clicked, this, [this] { work_.isRunning() ? work_.cancel() : start(); });
}

void MappingFusion::tell(const QString& text, bool bad) {
    state_->setTone(bad ? ui::Tone::Bad : ui::Tone::Normal);
    state_->setFullText(text);
}

void MappingFusion::setScenario(const std::optional<SpatialArrayView>& view, WorkloadPtr workload) {
    view_ = view;
    workload_ = std::move(workload);
    result_.reset();
    list_->clearResult();
    ++scenario_;
    work_.cancel();
    run_->setText(tr("Find what runs together"));
    run_->setEnabled(view_ && workload_);
    tell(tr("Data passed from one operator to the next can stay on the chip"));
}

void MappingFusion::start() {
    if (!view_ || !workload_) return;
    const Graph& graph = workload_->graph;
    if (graph.operators.empty()) return;
    auto chain = operatorChain(*view_, graph, 0, graph.operators.size() - 1);
    if (!chain) return tell(ui::windowText(chain.error().message), true);
    FusionOptions options;
    options.objective =
        chain->energies && objective_ != MapObjective::LastLevelAccesses ? objective_ : MapObjective::Latency;
    tell(tr("Searching …"));
    run_->setText(tr("Stop"));
    auto shared = std::make_shared<const OperatorChain>(std::move(*chain));
    work_.ask(
        [shared, options](std::stop_token stop, Progress&) {
            const auto executor = makeDefaultExecutor();
            return fuseChain(*shared, options, *executor, std::move(stop));
        },
        [this, shared, asked = scenario_](Expected<FusionResult>&& result) {
            if (asked != scenario_) return;
            run_->setText(tr("Find what runs together"));
            show(*shared, std::move(result));
        });
}

void MappingFusion::show(const OperatorChain& chain, Expected<FusionResult>&& result) {
    if (!result) return tell(ui::windowText(result.error().message), result.error().code != "mapper.cancelled");
    result_ = std::move(*result);
    list_->setResult(chain, *result_);
    if (!chain.level) return tell(tr("No on-chip level holds inputs and outputs, so nothing can stay on the chip"));
    const ChainPlan &fused = result_->fused, &alone = result_->unfused;
    QString words = tr("%1 cycles, %2 compared with each operator alone")
                        .arg(ui::countText(fused.cycles), ui::signedPercentText(fused.cycles / alone.cycles - 1));
    if (chain.energies)
        words +=
            tr(" · %1, %2").arg(ui::text(Joules(fused.energy)), ui::signedPercentText(fused.energy / alone.energy - 1));
    words += tr(" · intermediate results stay in %1").arg(ui::qs(chain.hardware.levels[*chain.level].name));
    tell(words);
}

}  // namespace orrery::app
