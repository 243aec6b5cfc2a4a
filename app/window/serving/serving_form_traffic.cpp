#include "app/window/form_parts.h"
#include "app/window/serving/serving_form.h"
#include "widgets/common/label.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/serving/traffic_picture.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QPushButton>
#include <QStyle>
#include <QStyleOptionButton>
#include <QTimer>

#include <algorithm>

namespace orrery::app {

namespace {

/// Lengths of that mean, as wide as is usual for the kind.
void setMean(LengthSpec& length, LengthKind kind, double mean) {
    length.kind = kind;
    length.mean = mean;
    const auto tokens = static_cast<std::int32_t>(mean);
    switch (kind) {
        case LengthKind::Uniform:
            length.least = std::max(1, tokens / 4);
            length.most = 2 * tokens - length.least;
            break;
        case LengthKind::Zipf:
        case LengthKind::LogNormal:
            length.least = 1;
            length.most = std::max(2, tokens * 8);
            break;
        default:
            break;
    }
}

}  // namespace

void ServingForm::buildTraffic() {
    QFormLayout* form = trafficRows_ = section(tr("Traffic"));
    FieldRows& rows = rowsOn(form);
    const FieldSpec& arrivals = *findField("traffic/arrivals/kind");
    arrivals_ = namedChoice(inner_, "serving.arrivals", ui::qs(arrivals.title), fieldTip(arrivals));
    for (std::size_t i = 0; i < arrivals.titles.size(); ++i)
        arrivals_->addItem(ui::qs(arrivals.titles[i]), static_cast<int>(i));
    rows.claim(arrivals_, "traffic/arrivals/kind");
    const FieldSpec& requestRate = *findField("traffic/arrivals/rate");
    rate_ = named(new ui::LogSlider(inner_), "serving.rate", ui::qs(requestRate.title), fieldTip(requestRate));
    rate_->setLogRange(0.05, 500);
    rows.claim(rate_, "traffic/arrivals/rate");
    rateText_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, inner_);
    trace_ = named(new QPushButton(tr("Choose a trace …"), inner_), "serving.trace", tr("Choose a trace"),
                   tr("Azure, Mooncake, BurstGPT, ShareGPT, Splitwise, or any CSV"));
    trace_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // a long name makes no form wider
    lengths_ =
        namedChoice(inner_, "serving.lengths", tr("Lengths"), tr("How prompt and output lengths are distributed"));
    for (const LengthKind kind :
         {LengthKind::Fixed, LengthKind::Uniform, LengthKind::Zipf, LengthKind::LogNormal, LengthKind::Trace})
        lengths_->addItem(ui::qs(findField("traffic/prompt/kind")->titles[static_cast<std::size_t>(kind)]),
                          static_cast<int>(kind));
    prompt_ = namedNumber(inner_, "serving.prompt", tr("Mean prompt"), tr("Tokens of a prompt, mean"), 1, 1000000);
    output_ = namedNumber(inner_, "serving.output", tr("Mean output"), tr("Tokens of an answer, mean"), 1, 100000);
    picture_ = new ui::TrafficPicture(inner_);
    picture_->setMinimumHeight(static_cast<int>(120 * ui::Theme::instance().scale()));
    trafficText_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, inner_);
    trafficText_->setWordWrap(true);
    auto* rate = new QHBoxLayout;
    rate->addWidget(rate_, 1);
    rate->addWidget(rateText_);
    form->addRow(tr("Arrivals"), arrivals_);
    form->addRow(tr("Rate"), rate);
    rows.field("traffic/arrivals/cv");
    rows.field("traffic/arrivals/concurrency");
    form->addRow(QString(), trace_);
    rows.field("traffic/requests");
    form->addRow(tr("Lengths"), lengths_);
    form->addRow(tr("Prompt"), prompt_);
    form->addRow(tr("Output"), output_);
    rows.section("traffic");
    form->addRow(picture_);
    form->addRow(trafficText_);
    connect(arrivals_, &QComboBox::activated, this, [this] {
        const auto kind = static_cast<ArrivalKind>(arrivals_->currentData().toInt());
        if (kind == ArrivalKind::Trace && question_.traffic.trace.file.empty()) return chooseTrace(true);
        TrafficSpec& traffic = question_.traffic;
        traffic.arrivals.kind = kind;
        // All of a trace ends; all that is drawn does not, but for a rate within a time.
        const bool timed = traffic.duration > 0 && kind != ArrivalKind::ClosedLoop && kind != ArrivalKind::AllAtOnce;
        if (kind != ArrivalKind::Trace && traffic.requests == 0 && !timed) traffic.requests = requests_;
        showTraffic();
        changed();
    });
    connect(rate_, &ui::LogSlider::edited, this, [this](double value, ui::EditPhase) {
        question_.traffic.arrivals.rate = value;
        showTraffic();
        changed();
    });
    const auto lengths = [this] {
        const auto kind = static_cast<LengthKind>(lengths_->currentData().toInt());
        question_.traffic.ratio = 0;
        if (kind == LengthKind::Trace) {
            question_.traffic.prompt.kind = question_.traffic.output.kind = kind;
            return;
        }
        setMean(question_.traffic.prompt, kind, prompt_->value());
        setMean(question_.traffic.output, kind, output_->value());
    };
    for (QSpinBox* box : {prompt_, output_})
        connect(box, &QSpinBox::valueChanged, this, [this, lengths] {
            if (filling_) return;
            lengths();
            changed();
        });
    connect(lengths_, &QComboBox::activated, this, [this, lengths] {
        const bool traced = lengths_->currentData().toInt() == static_cast<int>(LengthKind::Trace);
        if (traced && question_.traffic.trace.file.empty()) return chooseTrace(false);
        lengths();
        showTraffic();
        changed();
    });
    connect(trace_, &QPushButton::clicked, this, [this] {
        // Who takes only its lengths keeps the arrivals when another file is chosen.
        const TrafficSpec& traffic = question_.traffic;
        chooseTrace(traffic.prompt.kind != LengthKind::Trace || traffic.arrivals.kind == ArrivalKind::Trace);
    });
}

void ServingForm::chooseTrace(bool arrivals) {
    auto* dialog = new QFileDialog(this, tr("Choose a trace of requests"), {},
                                   tr("Traces (%1);;All files (*)").arg(packedToo({"csv", "jsonl"})));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this, arrivals](const QString& file) {
        question_.traffic.trace = {};
        question_.traffic.trace.file = file.toStdString();
        if (arrivals) {
            // All of it: a number of requests is for who asks for one. It comes back with arrivals that are drawn.
            if (question_.traffic.requests > 0) requests_ = question_.traffic.requests;
            question_.traffic.requests = 0;
            question_.traffic.duration = 0;
            question_.traffic.arrivals.kind = ArrivalKind::Trace;
        }
        question_.traffic.prompt.kind = question_.traffic.output.kind = LengthKind::Trace;
        showTraffic();
        changed();
    });
    connect(dialog, &QFileDialog::rejected, this, &ServingForm::showTraffic);
    dialog->open();
}

void ServingForm::showTraffic() {
    filling_ = true;
    const TrafficSpec& traffic = question_.traffic;
    if (traffic.requests > 0) requests_ = traffic.requests;
    const ArrivalKind kind = traffic.arrivals.kind;
    arrivals_->setCurrentIndex(arrivals_->findData(static_cast<int>(kind)));
    const bool open = kind != ArrivalKind::ClosedLoop && kind != ArrivalKind::AllAtOnce && kind != ArrivalKind::Trace;
    rate_->setEnabled(open);
    rateText_->setText(open ? tr("%1/s").arg(traffic.arrivals.rate, 0, 'g', 3) : QStringLiteral("–"));
    const QString file = QFileInfo(ui::qs(traffic.trace.file)).fileName();
    // Both ends of a long name, in the room that the button has; before it was laid out, in that which it has at least.
    constexpr int least = 16;  // letters
    QStyleOptionButton button;
    button.initFrom(trace_);
    const int room = std::max(trace_->style()->subElementRect(QStyle::SE_PushButtonContents, &button, trace_).width(),
                              least * trace_->fontMetrics().averageCharWidth());
    trace_->setText(file.isEmpty() ? tr("Choose a trace …")
                                   : trace_->fontMetrics().elidedText(file, Qt::ElideMiddle, room));
    trace_->setToolTip(file.isEmpty() ? tr("A file of requests with arrival times and lengths")
                                      : ui::qs(traffic.trace.file));
    lengths_->setCurrentIndex(std::max(0, lengths_->findData(static_cast<int>(traffic.prompt.kind))));
    trafficRows_->setRowVisible(prompt_, traffic.prompt.kind != LengthKind::Trace);
    trafficRows_->setRowVisible(output_, traffic.output.kind != LengthKind::Trace);
    filling_ = false;
}

QString ServingForm::askForColumns() {
    const auto fold = std::ranges::find_if(
        folds_, [](const FieldFold* each) { return each->head()->objectName() == QLatin1String("serving.trace"); });
    if (fold == folds_.end()) return {};
    // Who closes it again knows where it is.
    if (const auto& trace = question_.traffic.trace; asked_ != trace.file) {
        asked_ = trace.file;
        (*fold)->setOpen(true);
        QTimer::singleShot(0, *fold, [this, shown = *fold] { ensureWidgetVisible(shown); });
    }
    const auto label = [](const char* path) { return ui::qs(findField(path)->shortTitle()); };
    return tr("Under %1, at the left, write the names of its columns into %2, %3 and %4")
        .arg((*fold)->head()->text(), label("traffic/trace/arrival"), label("traffic/trace/prompt"),
             label("traffic/trace/output"));
}

void ServingForm::buildPromise() {
    QFormLayout* form = section(tr("SLO"));
    rowsOn(form).section("promise");
}

}  // namespace orrery::app
