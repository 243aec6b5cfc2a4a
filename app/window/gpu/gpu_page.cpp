#include "app/window/gpu/gpu_page.h"

#include "app/window/exports.h"
#include "app/window/gpu/counters_tab.h"
#include "app/window/gpu/occupancy_tab.h"
#include "app/window/page_head.h"
#include "app/window/studio.h"
#include "methods/model/launches.h"
#include "methods/task.h"
#include "simulation/gpu/recording_csv.h"
#include "store/export/lane_trace.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/table_file.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/gpu/activity_heat.h"
#include "widgets/gpu/cycle_stack_view.h"
#include "widgets/gpu/occupancy_view.h"
#include "widgets/gpu/warp_colours.h"
#include "widgets/gpu/warp_timeline.h"
#include "workload/kernel_source.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedLayout>
#include <QTabWidget>
#include <QToolButton>

#include <cmath>

namespace orrery::app {

namespace {

constexpr auto usualKernel = "gemm m=512 n=512 k=512 fp16";
constexpr std::size_t mostOperators = 60;  // that the chooser lists

}  // namespace

GpuPage::GpuPage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio), kernel_(QLatin1String(usualKernel)) {
    setObjectName(QStringLiteral("gpuPage"));
    setAccessibleName(tr("GPU cycle by cycle"));
    frame_.setInterval(60);
    connect(&frame_, &QTimer::timeout, this, [this] {
        const qint64 before = timelines_[0]->cursor();
        timelines_[0]->step(false);
        if (timelines_[0]->cursor() == before) play(false);
    });
    connect(&work_, &Background::advanced, this, [this] {
        if (!progress_) return;
        progress_->setVisible(work_.isRunning());
        progress_->setValue(static_cast<int>(1000 * work_.fraction()));
    });
    connect(&work_, &Background::ended, this, [this] {
        if (!run_) return;
        progress_->hide();
        run_->setText(tr("Run"));
        showLate();
    });
}

GpuPage::~GpuPage() = default;

void GpuPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) follow();
}

void GpuPage::setKernel(const QString& kernel) {
    kernel_ = kernel;
    awaitsOperator_ = false;
    if (!kernels_) return;
    const QSignalBlocker quiet(kernels_);
    kernels_->setEditText(kernel);
    asked();
}

GpuQuestion GpuPage::question() const {
    GpuQuestion out;
    out.hardware = studio_.document.hardware();
    out.kernel = kernel_.trimmed().toStdString();
    if (!kernels_) return out;
    const QString other = others_->currentText().trimmed();
    if (other != others_->itemText(0)) out.other = other.toStdString();
    out.change = change_->currentData().toString().toStdString();
    out.factor = factor_->isEnabled() ? factor_->currentData().toDouble() : 1;
    out.seconds = budget_->value();
    out.sample = sample_->currentData().toString().toStdString();
    return out;
}

bool GpuPage::late() const {
    return answer_ && answer_->question != question();
}

// The workload's kernels, the dearest first, those of an opened trace, and templates.
void GpuPage::fillKernels() {
    struct Item {
        QString text, share, tip;
    };
    std::vector<Item> items;
    if (const WorkloadPtr workload = studio_.live.workload()) {
        const auto gpu = gpuDrawing(studio_.document.hardware());
        const PassKernels pass = gpu ? kernelsByTime(*workload, gpu->view) : PassKernels{};
        for (const PassKernel& each : pass.kernels) {
            if (items.size() >= mostOperators) break;
            items.push_back({ui::qs(each.text), ui::percentText(each.share),
                             tr("%1 of the time of a pass, run %n time(s), by %2", nullptr,
                                static_cast<int>(std::lround(each.launches)))
                                 .arg(ui::percentText(each.share), ui::qs(pass.method))});
        }
    }
    const std::size_t ofPass = items.size();
    for (const std::string& file : traces_) items.push_back({QStringLiteral("trace:") + ui::qs(file), {}, {}});
    for (const char* each :
         {usualKernel, "gemm m=4096 n=4096 k=4096 bf16",
          "prefill-attention queries=1024 keys=1024 heads=16 kv_heads=16 head_dim=128 causal=yes fp16",
          "decode-attention batch=8 queries=1 keys=2048 heads=32 kv_heads=8 head_dim=128 fp16",
          "softmax m=2048 n=4096 fp16", "normalization m=2048 n=4096 fp16", "elementwise m=2048 n=4096 fp16"})
        items.push_back({QLatin1String(each), {}, {}});
    const QString other = others_->currentText();
    const bool none = other == others_->itemText(0);
    const QSignalBlocker a(kernels_), b(others_);
    kernels_->clear();
    others_->clear();
    others_->addItem(tr("the same kernel"));
    for (std::size_t i = 0; i < items.size(); ++i) {
        for (QComboBox* box : {kernels_, others_}) {
            if (i == ofPass && i > 0) box->insertSeparator(box->count());
            box->addItem(items[i].text, items[i].share);
            box->setItemData(box->count() - 1, items[i].tip, Qt::ToolTipRole);
        }
    }
    kernels_->setEditText(kernel_);
    if (!none) others_->setEditText(other);
}

std::string GpuPage::operatorAsked() const {
    const auto& scenarios = studio_.document.state()->scenarios;
    if (scenarios.empty() || scenarios.front().task.empty()) return {};
    const auto task = parseTask(scenarios.front().task);
    const auto* one = task ? std::get_if<OneOperator>(&*task) : nullptr;
    return one ? one->name : std::string();
}

// As the methods price it: by itself, whatever it would be fused with.
void GpuPage::takeKernelOfQuestion() {
    // A project is replaced by an empty one first.
    if (replaced_ && !studio_.document.state()->scenarios.empty()) {
        replaced_ = false;
        awaitsOperator_ = !operatorAsked().empty();
    }
    const WorkloadPtr workload = studio_.live.workload();
    if (!awaitsOperator_ || !workload) return;
    awaitsOperator_ = false;
    const std::string name = operatorAsked();
    ModelOptions options;
    options.fusion = Fusion::Apart;
    for (const Launch& launch : launchesOf(*workload, options).launches) {
        if (workload->graph.operators[static_cast<std::size_t>(launch.op)].name != name) continue;
        std::string text = kernelSource(launch.kernel);
        if (text.starts_with("kernel:")) text.erase(0, 7);
        if (!text.empty()) kernel_ = ui::qs(text);
        return;
    }
}

void GpuPage::follow() {
    takeKernelOfQuestion();
    stale_ = true;
    if (!isVisible() || !kernels_) return;
    stale_ = false;
    const auto gpu = gpuDrawing(studio_.document.hardware());
    if (!gpu) {
        occupancy_->setMachine({});
        counters_->ask(nullptr, {}, {});
        if (answer_) return asked();
        const QString hint = gpu.error().hint.empty() ? tr("Open a GPU of the library, such as A100 or H100.")
                                                      : ui::sentenceText(ui::windowText(gpu.error().hint));
        empty_->setTexts(tr("No GPU to simulate"),
                         ui::sentenceText(ui::windowText(gpu.error().message)) + QLatin1Char('\n') + hint);
        stack_->setCurrentIndex(0);
        return;
    }
    stack_->setCurrentIndex(1);
    occupancy_->setMachine(gpu->drawn.machine);
    // AMD calls its warps wavefronts.
    tabs_->setTabText(0, gpu->drawn.machine.lanes > 32 ? tr("Wavefronts") : tr("Warps"));
    fillKernels();
    asked();
    if (!ranOnce_ && !awaitsOperator_) run();
}

void GpuPage::asked() {
    if (!kernels_) return;
    refusal_.reset();
    const std::string kernel = kernel_.trimmed().toStdString();
    const HardwarePtr hardware = studio_.document.hardware();
    if (const auto gpu = gpuDrawing(hardware); !gpu) {
        refusal_ = gpu.error();
    } else if (const auto header = kernelHeader(kernel, *gpu)) {
        // A run says which tile was chosen; before it the planned one stands.
        const bool ran = answer_ && answer_->question.hardware == hardware && answer_->question.kernel == kernel;
        occupancy_->setKernel(ran ? answer_->runs.front().header : *header);
        if (counters_->ask(hardware, *gpu, kernel) && answer_) counters_->setRun(*answer_);
    } else {
        refusal_ = header.error();
    }
    if (refusal_) counters_->refuse(*refusal_);
    factor_->setEnabled(!change_->currentData().toString().isEmpty() &&
                        !change_->currentData().toString().startsWith(QLatin1String("scheduler")));
    showLate();
}

// Another project: nothing of the runs stays.
void GpuPage::forget() {
    work_.cancel();
    answer_.reset();
    refusal_.reset();
    ranOnce_ = false;
    replaced_ = true;
    awaitsOperator_ = false;
    if (!kernels_) return;
    play(false);
    const QString why = tr("Press Run to simulate the kernel.");
    for (std::size_t i = 0; i < 2; ++i) timelines_[i]->clear(why), heats_[i]->clear(why);
    stackView_->clear(why);
    table_->setCells({}, {});
    cursor_->setFullText({});
}

void GpuPage::run() {
    if (!kernels_) return;
    ranOnce_ = true;
    play(false);
    const GpuQuestion asked = question();
    run_->setText(tr("Stop"));
    work_.ask([asked](std::stop_token stop, Progress& progress) { return answerGpu(asked, std::move(stop), progress); },
              [this](Expected<GpuAnswer>&& answer) { take(std::move(answer)); });
    showLate();
}

void GpuPage::stop() {
    work_.cancel();
}

void GpuPage::take(Expected<GpuAnswer>&& answer) {
    if (!answer) {
        if (answer.error().code != "study.cancelled") refuse(answer.error());
        return showLate();
    }
    refusal_.reset();
    answer_ = std::move(*answer);
    counters_->setRun(*answer_);
    if (!late()) occupancy_->setKernel(answer_->runs.front().header);
    showRuns();
    showLate();
}

void GpuPage::refuse(const Diagnostic& why) {
    refusal_ = why;
    studio_.messages.log(Severity::Error, ui::windowText(toText(why)));
}

// Headline, and the veil over what answers an earlier question.
void GpuPage::showLate() {
    if (!head_) return;
    const bool running = work_.isRunning();
    if (refusal_) {
        head_->headline()->setTone(ui::Tone::Bad);
        head_->headline()->setFullText(ui::windowText(refusal_->message));
        head_->sub()->setFullText(ui::qs(refusal_->expected.empty() ? refusal_->hint : refusal_->expected));
    } else if (running && (!answer_ || answer_->stopped())) {
        head_->headline()->setTone(ui::Tone::Normal);
        head_->headline()->setFullText(tr("Simulating …"));
        head_->sub()->setFullText(tr("Stop shows the result so far"));
    } else if (answer_) {
        const GpuRun& first = answer_->runs.front();
        QString text = ui::qs(headlineOf(first));
        if (answer_->runs.size() > 1) {
            const GpuRun& second = answer_->runs[1];
            const auto cycles = [](const GpuRun& run) { return run.cycles(); };
            text += tr(" · %1: %2")
                        .arg(ui::qs(second.name), second.stopped()
                                                      ? tr("stopped after %1 cycles").arg(ui::countText(cycles(second)))
                                                      : ui::signedPercentText(cycles(second) / cycles(first) - 1));
        }
        head_->headline()->setTone(answer_->stopped() ? ui::Tone::Warning : ui::Tone::Normal);
        head_->headline()->setFullText(text);
        QString sub = tr("Simulated: %1. ").arg(ui::qs(first.seen.part.text()));
        if (first.stopped()) sub = tr("Stopped: this is the result so far. Press Run to start again.  ");
        if (first.seen.sample) sub += tr("In brackets: the whole kernel's 95 % interval. ");
        if (first.interval) sub += tr("In brackets: the range of measured products around simulated ones. ");
        sub += tr("Multiprocessor %1 is shown; the launch is not counted. The code is a template of common kernels, "
                  "not that of a library")
                   .arg(first.seen.recording->sm);
        head_->sub()->setFullText(sub);
    } else {
        head_->headline()->setTone(ui::Tone::Normal);
        head_->headline()->setFullText(tr("A kernel, cycle by cycle"));
        head_->sub()->setFullText(tr("Choose a kernel and press Run"));
    }
    // The calculator answers at once and is never late.
    if (!late() || tabs_->currentIndex() >= 4)
        veil_->lift();
    else
        veil_->drop(running ? tr("This is the answer to the previous question. The new question is being simulated.")
                            : tr("This is the answer to the previous question. Press Run to simulate the new one."));
    export_->setEnabled(answer_.has_value() || tabs_->currentIndex() >= 4);
}

void GpuPage::showRuns() {
    std::vector<ui::CycleStackBar> bars;
    for (std::size_t i = 0; i < 2; ++i) {
        const bool there = i < answer_->runs.size();
        timelines_[i]->setVisible(i == 0 || there);
        heats_[i]->setVisible(i == 0 || there);
        if (!there) continue;
        const GpuRun& run = answer_->runs[i];
        const QString name = ui::qs(run.name);
        timelines_[i]->setRecording(run.seen.recording, name);
        heats_[i]->setRecording(run.seen.recording, name);
        bars.push_back({name, static_cast<double>(run.seen.recording->cycles), run.seen.recording->stack(),
                        run.computeCycles, std::max(run.operandCycles, run.dramCycles), run.l2Cycles});
    }
    stackView_->setBars(std::move(bars));
    cursor_->setFullText(timelines_[0]->cursorText());
    const QSignalBlocker quiet(tableOf_);
    const int before = tableOf_->currentIndex();
    tableOf_->clear();
    for (const GpuRun& run : answer_->runs) tableOf_->addItem(ui::qs(run.name));
    tableOf_->setCurrentIndex(before > 0 && before < tableOf_->count() ? before : 0);
    tableOf_->setVisible(answer_->runs.size() > 1);
    showTable();
}

void GpuPage::showTable() {
    if (!answer_) return;
    const auto which = static_cast<std::size_t>(std::max(0, tableOf_->currentIndex()));
    const gpusim::Recording& r = *answer_->runs[std::min(which, answer_->runs.size() - 1)].seen.recording;
    using gpusim::WarpState;
    std::vector<WarpState> causes;
    double stalls = 0;
    for (std::size_t s = 2; s + 1 < gpusim::warpStateCount; ++s)
        if (r.warpCycles[s] > 0) causes.push_back(static_cast<WarpState>(s));
    for (const auto& one : r.instructions) stalls += static_cast<double>(one.stalls());
    QStringList heads{tr("PC"), tr("instruction"), tr("unit"), tr("issues"), tr("stall share"), tr("awaited")};
    for (const WarpState cause : causes) heads << ui::warpText(cause);
    std::vector<std::vector<ui::Cell>> rows;
    for (const auto& one : r.instructions) {
        const double share = stalls > 0 ? static_cast<double>(one.stalls()) / stalls : 0;
        std::vector<ui::Cell> row{
            {QStringLiteral("%1").arg(one.text.pc, 4, 16, QLatin1Char('0')), static_cast<double>(one.text.pc)},
            {ui::qs(one.text.text), 0, {}, ui::Tone::Normal, false},
            {ui::unitText(one.unit), 0, {}, ui::Tone::Muted, false},
            {ui::countText(static_cast<double>(one.issues)), static_cast<double>(one.issues)},
            {ui::percentText(share), share,
             tr("Share of the waiting cycles of warps in which this instruction was next")},
            {ui::countText(static_cast<double>(one.awaited)), static_cast<double>(one.awaited),
             tr("Warp cycles in which another instruction waited for its result")}};
        for (const WarpState cause : causes) {
            const auto cycles = static_cast<double>(one.warpCycles[static_cast<std::size_t>(cause)]);
            row.push_back({ui::countText(cycles), cycles, ui::warpMeaning(cause)});
        }
        rows.push_back(std::move(row));
    }
    table_->setCells(std::move(heads), std::move(rows));
}

void GpuPage::play(bool on) {
    if (!play_) return;
    if (on && !answer_) on = false;
    on ? frame_.start() : frame_.stop();
    const QSignalBlocker quiet(play_);
    play_->setChecked(on);
    play_->setText(on ? tr("Pause") : tr("Play"));
}

// The view in front, as a picture or its numbers.
QString GpuPage::exportView(const QString& file) const {
    if (file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive)) {
        if (!answer_ || tabs_->currentIndex() != 0) return tr("There is no timeline to write here");
        const GpuRun& run = answer_->runs.front();
        return ui::writeText(file, QByteArray::fromStdString(
                                       laneTrace(warpLanes(*run.seen.recording, 1e-6 / run.seen.machine.coreMhz))));
    }
    switch (tabs_->currentIndex()) {
        case 0:
            return timelines_[0]->exportTo(file);
        case 1:
            return heats_[0]->exportTo(file);
        case 2:
            return stackView_->exportTo(file);
        case 3:
            return exportTable(file);
        case 4:
            return occupancy_->view()->exportTo(file);
        default:
            return counters_->exportTo(file);
    }
}

QString GpuPage::exportTable(const QString& file) const {
    if (!answer_) return tr("There is nothing to write yet");
    const auto which = static_cast<std::size_t>(std::max(0, tableOf_->currentIndex()));
    const auto& run = answer_->runs[std::min(which, answer_->runs.size() - 1)];
    return ui::writeTable(file, gpusim::instructionsCsv(*run.seen.recording));
}

void GpuPage::exportAs() {
    static constexpr std::array names{"warps", "activity", "cycles", "instructions", "occupancy", "counters"};
    const bool table = tabs_->currentIndex() == 3 || tabs_->currentIndex() == 5;
    QString filter = table ? tr("CSV (*.csv);;TEX table (*.tex)")
                           : tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png);;CSV of all values (*.csv);;TEX table of all "
                                "values (*.tex)");
    if (tabs_->currentIndex() == 0) filter += tr(";;Chrome and Perfetto trace of the warps (*.json)");
    exportWith(studio_, *tabs_, tr("Export the view"),
               QLatin1String(names[static_cast<std::size_t>(tabs_->currentIndex())]) +
                   (table ? QStringLiteral(".csv") : QStringLiteral(".svg")),
               filter, [this](const QString& to) { return exportView(to); });
}

}  // namespace orrery::app
