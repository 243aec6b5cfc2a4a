#include "app/window/gpu/counters_tab.h"

#include "widgets/common/label.h"
#include "widgets/common/table_file.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QVBoxLayout>

#include <fmt/format.h>

namespace orrery::app {

namespace {

QString valueText(const GpuCounterInfo& info, double value) {
    return info.share   ? ui::percentText(value)
           : info.bytes ? ui::text(Bytes(value))
                        : ui::countText(value);
}

}  // namespace

CountersTab::CountersTab(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("gpu.counters.state"));
    state_->setWordWrap(true);
    table_ = new ui::CellsTable(
        QStringLiteral("gpu.counters"), tr("Counters from code"),
        tr("Counters predicted from the code of the kernel, with 90 % intervals, and the counters of a complete run"),
        this);
    table_->setEmptyText(tr("The counters of the kernel, predicted from its code before it runs, appear here."));
    column->addWidget(state_);
    column->addWidget(table_, 1);
}

void CountersTab::say(const QString& text, ui::Tone tone) {
    state_->setTone(tone);
    state_->setFullText(text);
}

void CountersTab::forget() {
    ++question_;
    work_.cancel();
    due_ = false;
    told_.reset();
    counted_.reset();
    ranInPart_ = false;
    hardware_.reset();
    gpu_.reset();
    kernel_.clear();
    show();
    say({}, ui::Tone::Muted);
}

bool CountersTab::ask(const HardwarePtr& hardware, const std::optional<GpuDrawing>& gpu, const std::string& kernel) {
    if (gpu && gpu_ && hardware == hardware_ && kernel == kernel_) return false;
    forget();
    hardware_ = hardware;
    gpu_ = gpu;
    kernel_ = kernel;
    due_ = gpu.has_value();
    if (due_ && isVisible()) begin();
    return true;
}

void CountersTab::refuse(const Diagnostic& why) {
    forget();
    say(ui::sentenceText(ui::windowText(why.message)), ui::Tone::Warning);
}

void CountersTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (due_) begin();
}

void CountersTab::begin() {
    due_ = false;
    if (gpu_->drawn.machine.lanes != 32 || gpu_->drawn.machine.dies > 1)
        return say(tr("The model covers GPUs with warps of 32 lanes and one L2. It does not cover this GPU."),
                   ui::Tone::Warning);
    struct Found {
        std::shared_ptr<const CounterModel> model;
        CounterAnswers answers;
        double widening = 1;
    };
    work_.ask(
        [gpu = *gpu_, kernel = kernel_, model = model_](std::stop_token stop, Progress&) mutable -> Expected<Found> {
            if (!model) {
                auto loaded = CounterModel::load();
                if (!loaded) return tl::unexpected(std::move(loaded.error()));
                model = std::make_shared<const CounterModel>(std::move(*loaded));
            }
            const auto program = kernelProgram(kernel, gpu, std::move(stop));
            if (!program) return tl::unexpected(program.error());
            const auto code = codeOf(*program, gpu.drawn.machine, gpu.view);
            if (!code) return tl::unexpected(code.error());
            return Found{model, model->answer(*code), model->widening(*code)};
        },
        [this, question = question_](Expected<Found> found) {
            if (question != question_) return;
            if (!found) return say(ui::sentenceText(ui::windowText(found.error().message)), ui::Tone::Warning);
            model_ = std::move(found->model);
            told_ = found->answers;
            widening_ = found->widening;
            const QString of = tr("Predicted from the code alone, in the counts of %1. The model was fitted to %2 "
                                  "kernels of Orrery's own simulator.")
                                   .arg(ui::qs(model_->surrogate().method),
                                        ui::countText(static_cast<double>(model_->surrogate().rows)));
            say(widening_ > 1 ? of + tr(" The kernel is outside their range: intervals are %1 times as wide.")
                                         .arg(widening_, 0, 'f', 1)
                              : of,
                ui::Tone::Muted);
            show();
        });
}

void CountersTab::setRun(const GpuAnswer& answer) {
    counted_.reset();
    ranInPart_ = false;
    if (!answer.runs.empty() && answer.question.hardware == hardware_ && answer.question.kernel == kernel_) {
        const GpuRun& run = answer.runs.front();
        ranInPart_ = !run.seen.part.whole() || run.stopped();
        if (!ranInPart_) counted_ = countersOf(run.seen.result, run.seen.machine);
    }
    show();
}

void CountersTab::show() {
    std::vector<std::vector<ui::Cell>> cells;
    for (std::size_t c = 0; c < gpuCounters && told_; ++c) {
        const GpuCounterInfo& info = gpuCounterInfos()[c];
        const CounterAnswer& told = (*told_)[c];
        const auto number = [&](double value) {
            return ui::Cell{valueText(info, value), value, {}, ui::Tone::Normal, true};
        };
        const bool outside = counted_ && ((*counted_)[c] < told.low || (*counted_)[c] > told.high);
        cells.push_back(
            {{ui::qs(info.title), static_cast<double>(c), ui::qs(info.meaning), ui::Tone::Normal, false},
             number(told.value),
             number(told.low),
             number(told.high),
             counted_ ? ui::Cell{valueText(info, (*counted_)[c]), (*counted_)[c],
                                 outside ? tr("Outside of the interval") : QString(),
                                 outside ? ui::Tone::Bad : ui::Tone::Normal, true}
                      : ui::Cell{ranInPart_ ? tr("a part ran") : QStringLiteral("–"), 1e300,
                                 ranInPart_
                                     ? tr("The run simulated a part of the kernel; a larger budget simulates all of it")
                                     : tr("No run of this kernel"),
                                 ui::Tone::Muted, true}});
    }
    table_->setCells({tr("Counter"), tr("Predicted"), tr("90 % from"), tr("90 % to"), tr("Counted by the run")},
                     std::move(cells));
}

QString CountersTab::exportTo(const QString& file) const {
    if (!told_) return tr("nothing is predicted yet");
    std::string text = "counter,predicted,low,high,counted\n";
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        const CounterAnswer& told = (*told_)[c];
        text += fmt::format("{},{:.8g},{:.8g},{:.8g},{}\n", gpuCounterInfos()[c].id, told.value, told.low, told.high,
                            counted_ ? fmt::format("{:.8g}", (*counted_)[c]) : "");
    }
    return ui::writeTable(file, text);
}

}  // namespace orrery::app
