#include "app/window/evidence/measure_dialog.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "measurement/cuda.h"
#include "measurement/host.h"
#include "measurement/measure.h"
#include "measurement/workers.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDate>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSaveFile>

#include <algorithm>

namespace orrery::app {

namespace {

struct KindChoice {
    const char *id, *text;
    std::vector<KernelKind> kinds;
    bool usual;
};
const std::vector<KindChoice>& kindChoices() {
    static const std::vector<KindChoice> all{
        {"measure.gemm", QT_TRANSLATE_NOOP("MeasureDialog", "Products"), {KernelKind::Gemm}, true},
        {"measure.attention",
         QT_TRANSLATE_NOOP("MeasureDialog", "Attention"),
         {KernelKind::PrefillAttention, KernelKind::DecodeAttention},
         false},
        {"measure.softmax", QT_TRANSLATE_NOOP("MeasureDialog", "Softmax"), {KernelKind::Softmax}, true},
        {"measure.norm", QT_TRANSLATE_NOOP("MeasureDialog", "Normalisation"), {KernelKind::Normalization}, true},
        {"measure.elementwise", QT_TRANSLATE_NOOP("MeasureDialog", "Element-wise"), {KernelKind::Elementwise}, true},
        {"measure.conv", QT_TRANSLATE_NOOP("MeasureDialog", "Convolutions"), {KernelKind::Convolution}, false}};
    return all;
}
constexpr DType measuredTypes[] = {DType::F32, DType::BF16, DType::I8};

/// What the job was asked, free of widgets.
struct MeasureJob {
    std::vector<KernelKind> kinds;
    std::vector<DType> types;
    bool busyToo = false, gpu = false;
    std::string table, design, date;
};

Expected<void> saved(const std::string& file, const std::string& text) {
    QSaveFile out(ui::qs(file));
    const bool written = out.open(QIODevice::WriteOnly) &&
                         out.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size()) &&
                         out.commit();
    if (written) return {};
    return fail("store.unwritable", "the file cannot be written: " + out.errorString().toStdString(),
                "a folder of yours", "choose another file", Place{file, 0, 0, {}});
}

/// Products of the first NVIDIA GPU; it stands in the catalogue, so that nothing is drawn.
Expected<Measurement> carryOutOnGpu(const MeasureJob& job, const MeasureOptions& asked) {
    const auto gpu = loadCuda(0);
    if (!gpu) return tl::unexpected(gpu.error());
    if (!job.busyToo) {
        if (auto idle = refuseBusyGpu(*gpu); !idle) return tl::unexpected(std::move(idle.error()));
    }
    MeasureOptions options = asked;
    options.coldBytes = 2 * gpu->l2Bytes;
    auto measured = measureKernels(usualGpuShapes(job.types), std::span(&gpu->library, 1), options);
    if (!measured) return measured;
    const auto statistic = job.busyToo ? Statistic::Minimum : Statistic::Median;
    if (auto wrote = saved(job.table, measurementTable(*measured, statistic, gpu->device, job.date)); !wrote)
        return tl::unexpected(std::move(wrote.error()));
    return measured;
}

Expected<Measurement> carryOut(const MeasureJob& job, std::stop_token stop, Progress& progress) {
    MeasureOptions options;
    options.stop = stop;
    options.progress = &progress;
    if (job.gpu) return carryOutOnGpu(job, options);
    if (!job.busyToo) {
        if (auto idle = refuseBusy(hostLoad(), static_cast<std::int64_t>(usableCores())); !idle)
            return tl::unexpected(std::move(idle.error()));
    }
    const auto host = describeHost(stop);
    if (!host) return tl::unexpected(host.error());
    Diagnostics notes;
    const auto libraries = kernelLibraries(notes);
    options.coldBytes = 2 * host->lastCacheBytes();
    auto measured = measureKernels(usualShapes(job.kinds, job.types), libraries, options);
    if (!measured) return measured;
    // A disturbed median says more of the others than of the kernel.
    const auto statistic = job.busyToo ? Statistic::Minimum : Statistic::Median;
    const auto device = QFileInfo(ui::qs(job.design)).fileName().toStdString();
    if (auto wrote = saved(job.design, hostDesign(*host, job.date)); !wrote)
        return tl::unexpected(std::move(wrote.error()));
    if (auto wrote = saved(job.table, measurementTable(*measured, statistic, device, job.date)); !wrote)
        return tl::unexpected(std::move(wrote.error()));
    return measured;
}

}  // namespace

MeasureDialog::MeasureDialog(QWidget* parent) : QDialog(parent), work_(new Background(this)) {
    setObjectName(QStringLiteral("measure"));
    setWindowTitle(tr("Measure this machine"));
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit);
    auto* what = new ui::Label(
        tr("Measures common kernels on this computer and adds the table to the references. On the processor it uses "
           "oneDNN or OpenBLAS, if installed; it also draws the machine, and you can fit a CPU roofline to the table. "
           "On an NVIDIA GPU it measures matrix products with the driver and cuBLAS."),
        ui::FontRole::Body, ui::Tone::Muted, this);
    what->setWordWrap(true);
    column->addWidget(what);
    auto* form = new QFormLayout;
    form->setVerticalSpacing(unit);
    machine_ = named(new QComboBox(this), "measure.machine", tr("Machine"), tr("What is measured"));
    machine_->addItems({tr("The processor"), tr("The first NVIDIA GPU")});
    form->addRow(tr("Machine"), machine_);
    connect(machine_, &QComboBox::currentIndexChanged, this, &MeasureDialog::showMachine);
    auto* kinds = new QVBoxLayout;
    for (const KindChoice& choice : kindChoices()) {
        auto* box =
            named(new QCheckBox(tr(choice.text), this), choice.id, tr(choice.text), tr("Measure kernels of this kind"));
        box->setChecked(choice.usual);
        kinds_.push_back(box);
        kinds->addWidget(box);
    }
    form->addRow(tr("Kernels"), kinds);
    auto* types = new QHBoxLayout;
    for (const DType type : measuredTypes) {
        const QString text = ui::qs(toText(type));
        const std::string id = "measure." + std::string(toText(type));
        auto* box = named(new QCheckBox(text, this), id.c_str(), text, tr("Measure kernels of this type"));
        box->setChecked(type == DType::F32);
        types_.push_back(box);
        types->addWidget(box);
    }
    types->addStretch(1);
    form->addRow(tr("Types"), types);
    file_ = named(new QLineEdit(QDir::home().filePath(QStringLiteral("this-machine.yaml")), this), "measure.file",
                  tr("Table"), tr("File of the table; the drawing of the machine is written beside it"));
    file_->setMinimumWidth(40 * unit);
    form->addRow(tr("Table"), file_);
    busy_ =
        named(new QCheckBox(tr("Even if other programs run"), this), "measure.busy", tr("Even if other programs run"),
              tr("Measure although the machine is busy. The shortest of the repeats is used"));
    form->addRow(QString(), busy_);
    column->addLayout(form);
    bar_ = named(new QProgressBar(this), "measure.progress", tr("Progress"), tr("Kernels measured so far"));
    bar_->setRange(0, 1000);
    column->addWidget(bar_);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setWordWrap(true);
    column->addWidget(state_);
    auto* buttons = new QDialogButtonBox(this);
    start_ = named(buttons->addButton(tr("Measure"), QDialogButtonBox::ActionRole), "measure.start", tr("Measure"),
                   tr("Runs the kernels now; takes about a minute"));
    stop_ = named(buttons->addButton(tr("Stop"), QDialogButtonBox::ActionRole), "measure.stop", tr("Stop"),
                  tr("Stops the measurement; nothing is written"));
    auto* close = named(buttons->addButton(QDialogButtonBox::Close), "measure.close", tr("Close"), tr("Close (Esc)"));
    column->addWidget(buttons);
    start_->setDefault(true);
    connect(start_, &QPushButton::clicked, this, &MeasureDialog::start);
    connect(stop_, &QPushButton::clicked, this, [this] { work_->cancel(); });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(work_, &Background::advanced, this, &MeasureDialog::showProgress);
    connect(work_, &Background::ended, this, &MeasureDialog::showProgress);
    showProgress();
}

bool MeasureDialog::ofGpu() const {
    return machine_->currentIndex() == 1;
}

void MeasureDialog::showMachine() {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
        const bool products = kindChoices()[i].kinds.front() == KernelKind::Gemm;
        kinds_[i]->setEnabled(products || !ofGpu());
        kinds_[i]->setToolTip(kinds_[i]->isEnabled() ? tr("Measure kernels of this kind")
                                                     : tr("On a GPU only matrix products are measured"));
    }
    file_->setToolTip(ofGpu() ? tr("File of the table; the GPU must be in the library")
                              : tr("File of the table; the drawing of the machine is written beside it"));
}

bool MeasureDialog::isMeasuring() const {
    return work_->isRunning();
}

void MeasureDialog::start() {
    MeasureJob job;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
        const auto& kinds = kindChoices()[i].kinds;
        if (kinds_[i]->isChecked() && kinds_[i]->isEnabled())
            job.kinds.insert(job.kinds.end(), kinds.begin(), kinds.end());
    }
    for (std::size_t i = 0; i < types_.size(); ++i) {
        if (types_[i]->isChecked()) job.types.push_back(measuredTypes[i]);
    }
    if (job.kinds.empty() || job.types.empty()) {
        return say(tr("Choose at least one kind of kernel and one type."), ui::Tone::Bad);
    }
    const QFileInfo file(file_->text());
    job.busyToo = busy_->isChecked();
    job.gpu = ofGpu();
    job.table = file.absoluteFilePath().toStdString();
    job.design = file.absoluteDir().filePath(file.completeBaseName() + QStringLiteral("-design.yaml")).toStdString();
    job.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    say(tr("Measuring …"), ui::Tone::Muted);
    work_->ask([job](std::stop_token stop, Progress& progress) { return carryOut(job, stop, progress); },
               [this, job](Expected<Measurement> found) {
                   if (!found) {
                       const Diagnostic& why = found.error();
                       if (why.code == "study.cancelled")
                           return say(tr("Stopped; nothing was written."), ui::Tone::Muted);
                       QString words = ui::windowText(why.message);
                       if (!why.hint.empty()) words += QStringLiteral(". ") + ui::windowText(why.hint);
                       return say(words, ui::Tone::Bad, ui::windowText(toText(why)));
                   }
                   say(tr("%1 kernels measured with %2.").arg(found->rows.size()).arg(ui::qs(found->software())),
                       ui::Tone::Muted);
                   emit measured(ui::qs(job.table));
               });
    showProgress();
}

void MeasureDialog::say(const QString& words, ui::Tone tone, const QString& tip) {
    state_->setTone(tone);
    state_->setFullText(words);
    state_->setToolTip(tip);
    // Longer words must not press the fields above them together.
    layout()->activate();
    resize(width(), std::max(height(), layout()->totalHeightForWidth(width())));
}

void MeasureDialog::showProgress() {
    const bool running = work_->isRunning();
    start_->setEnabled(!running);
    stop_->setEnabled(running);
    bar_->setVisible(running);
    bar_->setValue(static_cast<int>(1000 * work_->fraction()));
}

}  // namespace orrery::app
